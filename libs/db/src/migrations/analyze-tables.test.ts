import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDb, type TestDb } from '../testing.ts';
import { analyzeTables } from './analyze-tables.ts';
import { migrateSchema } from './prepare.ts';

const schema = 'things';
const folder = mkdtempSync(join(tmpdir(), 'migrations-'));
let db: TestDb;

/** Adds a migration, which is the newest. */
const addMigration = (name: string, text: string) => writeFileSync(join(folder, `${name}.sql`), text);

beforeAll(async () => {
  db = await createTestDb();
  addMigration(
    '001.do.create',
    ['large', 'small']
      .map((table) => `create table things.${table} (name text) with (autovacuum_enabled = off);`)
      .join('\n'),
  );
  await migrateSchema(db, { schema, folder }, { info: () => undefined });
  await db.query(`insert into things.large select 'thing ' || n from generate_series(1, 5000) as n`);
});
afterAll(async () => {
  await db.close();
  rmSync(folder, { recursive: true });
});

/** Prepares the schema, and returns the tables that this analyses. */
async function analysed(): Promise<unknown[]> {
  const logged: object[] = [];
  await migrateSchema(db, { schema, folder }, { info: (fields) => logged.push(fields) });
  return logged.flatMap((fields) => ('analysed' in fields ? [fields.analysed] : []));
}

test('a start analyses the tables that were loaded without statistics, once, and no small ones', async () => {
  expect(await analysed()).toEqual([['things.large']]);
  expect(await analysed()).toEqual([]);
});

test('a migration analyses the tables of its schema: a new index on an expression has no statistics', async () => {
  addMigration('002.do.index', 'create index large_in_lower_case on things.large (lower(name));');
  expect(await analysed()).toEqual([['things.large']]);
  const rows = await db.query(`select attname from pg_stats where tablename = 'large_in_lower_case'`);
  expect(rows).toHaveLength(1);
  expect(await analysed()).toEqual([]);
});

test('a role analyses only its own tables', async () => {
  const foreign = db.transaction(async (tx) => {
    await tx.script('set local role pg_read_all_data');
    return analyzeTables({ ...db, query: tx.query }, schema, { all: true });
  });
  expect(await foreign).toEqual([]);
});
