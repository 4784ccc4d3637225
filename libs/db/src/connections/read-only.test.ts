import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '@secrets/testing';
import type { Db } from '../db.ts';
import { prepareSchema } from '../migrations/prepare.ts';
import { createTestDb, type TestDb } from '../testing.ts';
import { openPostgres } from './open-postgres.ts';
import { checkDatabase } from './writable.ts';

// What a standby does to its connections, this setting does as well.
const readOnly = 'set default_transaction_read_only = on';
const unavailable = { kind: 'unavailable', message: 'the database is unavailable' };

let owner: TestDb;
let db: Db;

beforeEach(async () => {
  owner = await createTestDb();
  await owner.query('create table things (id int)');
  db = openPostgres({ url: owner.url, connections: 1 });
});
afterEach(async () => {
  await db?.close();
  await owner?.close();
});

const database = () => new URL(owner.url).pathname.slice(1);

/** For connections that are opened from now on. */
const setReadOnly = (isReadOnly: boolean) =>
  owner.query(
    `alter database ${database()} ${isReadOnly ? readOnly : 'reset default_transaction_read_only'}`,
  );

test('a server that accepts no writes counts as unavailable, for reads too, until it accepts them', async () => {
  await setReadOnly(true);
  await expect(db.query('select from things')).rejects.toMatchObject(unavailable);
  await expect(db.transaction((tx) => tx.query('select from things'))).rejects.toMatchObject(unavailable);
  await expect(checkDatabase(db)).rejects.toMatchObject(unavailable);
  await setReadOnly(false);
  await db.query('insert into things values (1)');
  await checkDatabase(db);
});

test('a connection whose server accepts no more writes is replaced after a write that it refused', async () => {
  await db.query(readOnly);
  await expect(checkDatabase(db)).rejects.toThrow('accepts no writes');
  await expect(db.query('insert into things values (1)')).rejects.toMatchObject(unavailable);
  await db.query('insert into things values (1)');
  await checkDatabase(db);
});

test('a server that answers reads, but has no room for what is written, is not ready until it has', async () => {
  await owner.query(`alter database ${database()} set temp_file_limit = 0`);
  await expect(checkDatabase(db)).rejects.toMatchObject({ ...unavailable, cause: { code: '53400' } });
  await db.query('select from things');
  await db.query('set temp_file_limit = -1');
  await checkDatabase(db);
});

test('checks of readiness write at most every few seconds, and share one write', async () => {
  const spilled = async () => {
    await owner.query('select pg_stat_force_next_flush()');
    const [row] = await owner.query<{ files: number }>(
      'select temp_files as files from pg_stat_database where datname = current_database()',
    );
    return row!.files;
  };
  await Promise.all([checkDatabase(db), checkDatabase(db)]);
  await checkDatabase(db);
  await db.close(); // flushes its statistics
  db = openPostgres({ url: owner.url, connections: 1 });
  await eventually(async () => expect(await spilled()).toBe(1));
});

test('a transaction on such a connection is refused, and the next one succeeds', async () => {
  await db.query(readOnly);
  const insert = () => db.transaction((tx) => tx.query('insert into things values (1)'));
  await expect(insert()).rejects.toMatchObject(unavailable);
  await insert();
});

test('migrations wait until the server accepts writes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'migrations-'));
  writeFileSync(join(folder, '001.do.nothing.sql'), 'select 1;');
  await setReadOnly(true);
  const waiting = Promise.withResolvers<void>();
  const log = { info: () => undefined, warn: () => waiting.resolve() };
  const prepared = prepareSchema(db, { schema: 'things', folder }, log);
  await Promise.race([waiting.promise, prepared]);
  await setReadOnly(false);
  await prepared;
  rmSync(folder, { recursive: true });
});
