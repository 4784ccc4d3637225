import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Db, Sql } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { removalError, retryFailed } from '@secrets/sync-entries';
import { lockSomeToRemove } from '../src/queries/association-pages.ts';
import { lockAssociation } from '../src/queries/associations.ts';
import { insertMany } from './insert-many.ts';

const associations = 3_000;
let db: Db;
let id: string;

beforeAll(async () => {
  db = await openTestDb();
  await db.query(
    `insert into sync.destinations (namespace_id, namespace_path, type, name, settings)
     values ('root', '', 'cloudA-sm', 'd', '{}')`,
  );
  id = await insertMany(db, { destination: 'd', count: associations, status: 'SYNCED' });
  // Most rows are being removed, as towards the end of a purge.
  await db.query(`update sync.associations set removing = secret_name not in ('many1', 'many2')`);
  await db.query(`update sync.entries set desired = 'absent' where collision_key not in ('many1', 'many2')`);
  await db.query('analyze');
});
afterAll(() => db?.close());

/** A node of an executed plan (https://www.postgresql.org/docs/current/sql-explain.html, FORMAT JSON). */
interface PlanNode {
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

const maxRows = (node: PlanNode): number =>
  Math.max(
    node['Actual Loops'] * (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)),
    ...(node.Plans ?? []).map(maxRows),
  );

test.each<[string, (sql: Sql) => Promise<unknown>]>([
  ['removing an association', (sql) => lockAssociation(sql, id, 'many', 'many7')],
  ['a page of a purge', (sql) => lockSomeToRemove(sql, id, null, 200)],
  ['the error of a purge', (sql) => removalError(sql, id)],
  ['a page of a retry', (sql) => retryFailed(sql, id, 500)],
])('%s does not scan the other rows of its destination', async (_what, run) => {
  let scanned = 0;
  const explaining: Sql = {
    query: async (text, params) => {
      const [row] = await db.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
        `explain (analyze, format json) ${text}`,
        params,
      );
      scanned = maxRows(row!['QUERY PLAN'][0]!.Plan);
      return [];
    },
  };
  await run(explaining);
  expect(scanned).toBeLessThanOrEqual(5);
});
