import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Sql } from '@secrets/db';
import { claimEntries, completeEntries, readEntryContexts } from '@secrets/sync-entries';
import { as, preparedDb } from './role-for-test.ts';

const manyEntries = 3_000;
const batchSize = 16;
const destinationType = 'cloudA-sm';

/** A node of an executed plan (https://www.postgresql.org/docs/current/sql-explain.html, FORMAT JSON). */
interface PlanNode {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Join Filter'?: number;
  Plans?: PlanNode[];
}

// How the same statements fare in large tables: flat-cost/.
describe('statements of a worker on tables that were never analysed', () => {
  let db: Awaited<ReturnType<typeof preparedDb>>;
  let ids: string[];

  beforeAll(async () => {
    db = await preparedDb();
    await insertEntries(db);
    const rows = await db.query<{ id: string }>('select id from sync.entries order by id limit $1', [
      batchSize,
    ]);
    ids = rows.map(({ id }) => id);
  });
  afterAll(() => db.close());

  test.each([
    [
      'claiming',
      (sql: Sql) => claimEntries(sql, { entryIds: ids, destinationType, owner: 'me', leaseSeconds: 30 }),
    ],
    ['reading', (sql: Sql) => readEntryContexts(sql, ids)],
    [
      'completing',
      (sql: Sql) =>
        completeEntries(
          sql,
          ids.map((id) => ({
            held: { id, fence: 1, server: 's', generation: 1, attempts: 0 },
            achieved: { status: 'SYNCED', pushedHash: 'h', settingsHash: 's', remote: null },
          })),
        ),
    ],
  ])('%s scans only the rows of its entries', async (_, run) => {
    expect(await maxRowsScanned(db, run)).toBeLessThanOrEqual(batchSize * batchSize);
  });
});

/**
 * Returns the maximum number of rows that a node of the statement's generic plan scanned. Long-lived sessions use
 * generic plans.
 */
async function maxRowsScanned(
  db: Awaited<ReturnType<typeof preparedDb>>,
  run: (sql: Sql) => Promise<unknown>,
): Promise<number> {
  let max = 0;
  const explaining: Sql = {
    query: async (text, values) => {
      const [row] = await current.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
        `explain (analyze, format json) ${text}`,
        values,
      );
      max = maxRows(row!['QUERY PLAN'][0]!.Plan);
      return [];
    },
  };
  let current: Sql = db;
  await as(db, 'sync-worker-clouda-sm', async (sql) => {
    current = sql;
    await sql.query('set local plan_cache_mode = force_generic_plan');
    await run(explaining);
  });
  return max;
}

const maxRows = (node: PlanNode): number =>
  Math.max(
    node['Actual Loops'] *
      (node['Actual Rows'] +
        (node['Rows Removed by Filter'] ?? 0) +
        (node['Rows Removed by Join Filter'] ?? 0)),
    ...(node.Plans ?? []).map(maxRows),
  );

/** Inserts many secrets of one version, each with an entry of one destination. */
async function insertEntries(sql: Sql): Promise<void> {
  const [mount, destination] = [randomUUID(), randomUUID()];
  await sql.query(
    `insert into secrets.mounts (id, namespace_id, path, accessor) values ($1::uuid, 'root', $1::text, $1::text)`,
    [mount],
  );
  await sql.query(
    `insert into secrets.secrets (id, mount_id, path, current_version)
     select gen_random_uuid(), $1, 'app' || number, 1 from generate_series(1, $2::int) as number`,
    [mount, manyEntries],
  );
  await sql.query(
    `insert into secrets.versions (secret_id, version, id, sealed, created_at)
     select id, 1, gen_random_uuid(), '\\xfe', now() from secrets.secrets where mount_id = $1`,
    [mount],
  );
  await sql.query(
    `insert into sync.destinations (id, namespace_id, namespace_path, type, name, settings)
     values ($1::uuid, 'root', '', $2, $1::text, '{}')`,
    [destination, destinationType],
  );
  await sql.query(
    `insert into sync.associations (id, destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision)
     select gen_random_uuid(), $1, 'root', $2, 'kv', 'kv_1', id, path, 1 from secrets.secrets where mount_id = $2`,
    [destination, mount],
  );
  await sql.query(
    `insert into sync.entries (association_id, destination_id, destination_type, external_name, collision_key)
     select id, destination_id, $2, secret_name, secret_name from sync.associations where destination_id = $1`,
    [destination, destinationType],
  );
}
