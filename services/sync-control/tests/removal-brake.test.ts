import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { silentLogger } from '@secrets/telemetry';
import { admitRemovals, type RemovalBrake, settleMarks } from '../src/changes/removal-brake.ts';
import { insertMany } from './insert-many.ts';
import { eventually } from './sync-control-for-test.ts';

const brake: RemovalBrake = { limits: { minEntries: 50, share: 0.2 }, log: silentLogger() };
let db: Db;

beforeAll(async () => {
  db = await openTestDb();
  await db.query(
    `insert into sync.destinations (namespace_id, namespace_path, type, name, settings)
     values ('root', '', 'cloudA-sm', 'd', '{}')`,
  );
});
afterAll(() => db?.close());

const isAnyoneWaiting = async () =>
  (
    await db.query(
      'select pid from pg_stat_activity where datname = current_database() and wait_event_type = $1',
      ['Lock'],
    )
  ).length > 0;

test('counts a removal once that is approved while its event waits for the brake', async () => {
  const destinationId = await insertMany(db, { destination: 'd', count: 3, status: 'SYNCED' });
  const [row] = await db.query<{ id: string }>(
    `update sync.associations set source_gone_at = now(), source_removals = 1
      where secret_name = 'many1' returning id`,
  );
  const [settled, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const settling = db.transaction(async (tx) => {
    await settleMarks(tx, brake, destinationId);
    settled.resolve();
    await commit.promise;
  });
  await settled.promise;
  const removal = { destinationId, associationId: row!.id, removals: 1 };
  const admitted = db.transaction((tx) => admitRemovals(tx, brake, removal));
  await eventually(isAnyoneWaiting);
  commit.resolve();
  await settling;
  expect(await admitted).toBe(true);
  const [state] = await db.query<{ removed: number }>('select removed from sync.removal_brakes');
  expect(state).toEqual({ removed: 1 });
});
