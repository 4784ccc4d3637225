import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Db } from '../db.ts';
import { openPostgres } from './open-postgres.ts';
import { type ServerPair, startServerPair } from './standby-testing.ts';

const unavailable = { kind: 'unavailable', message: 'the database is unavailable' };

let folder: string;
let pair: ServerPair;
let db: Db;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pair-'));
  pair = await startServerPair({ folder });
  db = openPostgres({ url: pair.url, statementTimeoutMs: 300, responseTimeoutMs: 1_000 });
  await db.query('create table things (id int)');
});
afterEach(async () => {
  await db?.close();
  await pair?.close();
  rmSync(folder, { recursive: true });
});

const insert = (id: number) => db.query('insert into things values ($1)', [id]);
const ids = async () => (await db.query<{ id: number }>('select id from things')).map(({ id }) => id);

// A wait for a standby that is cancelled ends as if the commit had been replicated:
// https://www.postgresql.org/docs/18/warm-standby.html
test('a commit that the standby does not have is not acknowledged after a timeout either', async () => {
  pair.holdReplication();
  const inTransaction = db.transaction((tx) => tx.query('insert into things values (2)'));
  await Promise.all([insert(1), inTransaction].map((one) => expect(one).rejects.toMatchObject(unavailable)));
});

test('a standby is not used before it is promoted, and has every acknowledged commit then', async () => {
  await insert(1);
  pair.holdReplication();
  await expect(insert(2)).rejects.toMatchObject(unavailable);
  await pair.primary.stop('SIGKILL');
  pair.switchAddress();
  await expect(ids()).rejects.toMatchObject(unavailable);
  await expect(insert(3)).rejects.toMatchObject(unavailable);
  await pair.promote();
  await insert(4);
  expect(await ids()).toEqual([1, 4]);
});
