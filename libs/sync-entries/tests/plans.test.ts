import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Db, Sql, Tx } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import {
  admitEntries,
  claimEntries,
  completeEntries,
  countPending,
  markAnnounced,
  postponeEntry,
} from '../src/index.ts';
import { destinationType, pushed } from './entries-for-test.ts';

let db: Db;
beforeAll(async () => {
  db = await openTestDb();
  await db.query(
    `insert into sync.destinations (namespace_id, namespace_path, type, name, settings)
     select 'root', '', $1, 'd' || n, '{}' from generate_series(1, 50) as n`,
    [destinationType],
  );
  await db.query(
    `insert into sync.associations
       (destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision)
     select id, 'root', gen_random_uuid(), 'kv', 'kv_1', gen_random_uuid(), 's', 1 from sync.destinations`,
  );
});
afterAll(() => db?.close());

/** Adds due entries to every destination, up to this many in each. */
async function seed(upTo: number): Promise<void> {
  await db.query(
    `insert into sync.entries (association_id, destination_id, destination_type, sub_key, external_name, collision_key)
     select a.id, a.destination_id, $1, n::text, 'n' || n, 'n' || n
       from sync.associations a cross join generate_series(1, $2) as n on conflict do nothing`,
    [destinationType, upTo],
  );
  await db.query('update sync.entries set due_at = now(), announced_at = null, lease_until = null');
  await db.query('vacuum (full, analyze) sync.entries');
}

/** Counts the buffers that statements touch, by executing each of them twice: explained and rolled back, then for its result. */
async function buffersOf(work: (counted: Db & Tx) => Promise<unknown>): Promise<number> {
  let buffers = 0;
  await db.transaction(async (tx) => {
    const query: Sql['query'] = async (text, params) => {
      await tx.query('savepoint explained');
      const [row] = await tx.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
        `explain (analyze, buffers, format json) ${text}`,
        params,
      );
      await tx.query('rollback to savepoint explained');
      const plan = row!['QUERY PLAN'][0].Plan;
      buffers += plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
      return tx.query(text, params);
    };
    const counted = {
      ...tx,
      query,
      transaction: <T>(inner: (t: Tx) => Promise<T>) => inner({ ...tx, query }),
    };
    await work(counted as unknown as Db & Tx);
  });
  return buffers;
}

const budget = { perSecond: 1_000, burst: 1_000 };

/** The buffers of each kind of statement in the life of an entry. */
async function measure(): Promise<Record<string, number>> {
  let ids: string[] = [];
  let xid = '0';
  const admission = await buffersOf(async (counted) => {
    const admitted = await admitEntries(counted, { destinationType, budget });
    ids = admitted.messages.map(({ entry_id: id }) => id);
    xid = admitted.admissionXid;
  });
  await markAnnounced(db, ids, xid);
  const first = ids.slice(0, 16);
  let held: Awaited<ReturnType<typeof claimEntries>> = [];
  const lease = { destinationType, owner: randomUUID(), leaseSeconds: 30 };
  const claim = await buffersOf(async (counted) => {
    held = await claimEntries(counted, { ...lease, entryIds: first });
  });
  expect(held).toHaveLength(first.length);
  return {
    admission,
    claim,
    complete: await buffersOf((counted) =>
      completeEntries(
        counted,
        held.map((one) => ({ held: one, achieved: pushed })),
      ),
    ),
    postpone: await buffersOf((counted) => postponeEntry(counted, ids[20]!)),
    countPending: await buffersOf((counted) => countPending(counted, 500)),
  };
}

test('admission, claim, completion, postponement and the count cost the same however many entries wait', async () => {
  await seed(160);
  const few = await measure();
  await seed(640);
  const many = await measure();
  const grown = Object.entries(many).filter(([statement, buffers]) => buffers > few[statement]! * 1.1 + 8);
  expect({ grown, few }).toEqual({ grown: [], few });
}, 60_000);

test('a type without due entries costs a look into one index', async () => {
  await db.query('update sync.entries set due_at = null, announced_at = null');
  await db.query('vacuum (full, analyze) sync.entries');
  expect(await buffersOf((counted) => admitEntries(counted, { destinationType, budget }))).toBeLessThan(10);
}, 60_000);
