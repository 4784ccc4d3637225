import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openPostgres, startEmbeddedServer } from '@secrets/db';
import { silentLogger } from '@secrets/telemetry';
import { prepareDatabase } from '../src/database/prepare-database.ts';
import { databaseServices, roleOf } from '../src/database-roles.ts';
import { passwords } from './role-for-test.ts';

let folder: string;
let server: Awaited<ReturnType<typeof startEmbeddedServer>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'owner-'));
  server = await startEmbeddedServer({ folder, durable: false });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

/** Creates a role with these attributes and a database that it owns. Returns a connection as this role. */
async function openAsOwner(attributes: string) {
  const superuser = openPostgres({ url: server.url('postgres'), connections: 1 });
  await superuser.query(`create role setup login ${attributes}`);
  await superuser.query('create database secrets owner setup');
  await superuser.close();
  const url = new URL(server.url('secrets'));
  if (url.searchParams.has('user')) url.searchParams.set('user', 'setup');
  else url.username = 'setup';
  return openPostgres({ url: url.toString(), connections: 1 });
}

test('the owner of the database needs no other right than to create roles', async () => {
  const db = await openAsOwner('createrole');
  for (const _ of ['an installation', 'an upgrade']) await prepareDatabase(db, passwords, silentLogger());
  const roles = await db.query<{ name: string }>('select rolname as name from pg_roles');
  expect(roles.map(({ name }) => name)).toEqual(expect.arrayContaining(databaseServices.map(roleOf)));
  await db.close();
});
