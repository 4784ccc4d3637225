import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { SyncStatus } from '@secrets/domain';
import {
  countByStatus,
  entriesOfSubKeys,
  failEntry,
  listLanes,
  readHealth,
  readQueues,
  reportToLane,
  requestPut,
  subKeysWithStatus,
} from '../src/index.ts';
import { entriesForTest, pushed, rejected } from './entries-for-test.ts';

const { db, destinationId, associationId, add, admit, claim, complete, timePasses } = entriesForTest();

const unavailable = { status: 'EXTERNAL_SERVICE_ERROR', fault: 'unavailable', error: 'down' } as const;
const fail = async (id: string) => failEntry(db, (await claim(id))!, { ...unavailable, retryInSeconds: 60 });

/**
 * One entry that is synced, one that failed, one that is retried, and four that are pending: waiting, enqueued, with a worker,
 * and waiting for another one.
 */
async function addAll(): Promise<void> {
  const [synced, failed, retried] = [await add('synced'), await add('failed'), await add('retried')];
  await complete((await claim(synced!))!, pushed);
  await failEntry(db, (await claim(failed!))!, rejected);
  await fail(retried!);
  await add('enqueued');
  await admit();
  await claim(await add('claimed'));
  await add('waiting');
  const parked = await add('parked');
  await db.query('update sync.entries set due_at = null, waits_for = $2 where id = $1', [parked, failed]);
}

const found = async (
  statuses: SyncStatus[],
  limit = 100,
  after?: { associationId: string; subKey?: string },
) => (await subKeysWithStatus(db, destinationId(), statuses, { after, limit })).map(({ subKey }) => subKey);

test('counts the entries of a destination by status, also those in progress, up to a limit', async () => {
  await addAll();
  const counts = async (limit: number) =>
    Object.fromEntries(
      (await countByStatus(db, [destinationId(), randomUUID()], limit)).map(({ status, count }) => [
        status,
        count,
      ]),
    );
  const others = { SYNCED: 1, CLIENT_SIDE_ERROR: 1, EXTERNAL_SERVICE_ERROR: 1 };
  expect(await counts(100)).toEqual({ ...others, PENDING: 4 });
  expect(await counts(3)).toEqual({ ...others, PENDING: 3 });
});

test('the queue distinguishes what is due, scheduled and in progress', async () => {
  await addAll();
  await db.query(
    `update sync.entries set due_at = now() - interval '90 seconds' where external_name = 'waiting'`,
  );
  const queues = await readQueues(db, [destinationId()], 100);
  const counts = { destinationId: destinationId(), due: 1, scheduled: 1, inProgress: 2 };
  expect(queues).toEqual([{ ...counts, oldestDueSeconds: expect.any(Number) }]);
  expect(queues[0]!.oldestDueSeconds).toBeGreaterThanOrEqual(90);
  expect(queues[0]!.oldestDueSeconds).toBeLessThan(150);
  await timePasses();
  expect(await readQueues(db, [destinationId()], 3)).toMatchObject([{ due: 3, scheduled: 0, inProgress: 0 }]);
});

test('a destination without entries has an empty queue', async () => {
  expect(await readQueues(db, [destinationId()], 100)).toMatchObject([
    { due: 0, scheduled: 0, inProgress: 0, oldestDueSeconds: null },
  ]);
  expect(await countByStatus(db, [destinationId()], 100)).toEqual([]);
});

test('finds sub-keys by the status of their entries, in pages', async () => {
  await addAll();
  await db.query('update sync.entries set sub_key = external_name');
  expect(await found(['SYNCED'])).toEqual(['synced']);
  expect(await found(['PENDING'])).toEqual(['claimed', 'enqueued', 'parked', 'waiting']);
  expect(await found(['PENDING', 'CLIENT_SIDE_ERROR'], 3)).toEqual(['claimed', 'enqueued', 'failed']);
  const after = { associationId: associationId(), subKey: 'failed' };
  expect(await found(['PENDING', 'CLIENT_SIDE_ERROR'], 3, after)).toEqual(['parked', 'waiting']);
  expect(await found(['SYNCED'], 3, { associationId: associationId() })).toEqual([]);
  const of = [{ associationId: associationId(), subKey: 'synced' }];
  expect(await entriesOfSubKeys(db, of)).toMatchObject([{ subKey: 'synced', status: 'SYNCED' }]);
});

test('a status is found by its current value', async () => {
  const id = await add();
  await complete((await claim(id))!, pushed);
  await requestPut(db, [id]);
  expect([await found(['SYNCED']), await found(['PENDING'])]).toEqual([[], ['']]);
});

test('health is that of the destination and of its lane', async () => {
  const [before] = await readHealth(db, [destinationId()]);
  expect(before).toMatchObject({ lane: { failures: 0 }, destination: { failures: 0 }, isSlow: false });
  const laneId = (await listLanes(db, 'root', { after: randomlyFirst, limit: 10, maxNames: 10 }))[0]!.id;
  const report = { kind: 'failed', fault: 'unavailable', retryAfterSeconds: 60 } as const;
  await reportToLane(db, { laneId, destinationId: destinationId() }, report, { tookMs: 0, random: 0 });
  const [after] = await readHealth(db, [destinationId()]);
  expect(after).toMatchObject({
    lane: { reason: null },
    destination: { reason: 'unavailable', failures: 1 },
  });
  expect(after!.destination.pausedUntilMs! - after!.nowMs).toBeGreaterThan(55_000);
});

const randomlyFirst = '00000000-0000-0000-0000-000000000000';

test('lists each lane of a namespace once, in pages, with the names of its own destinations only', async () => {
  const insert = (namespace: string, name: string) =>
    db.query(
      `insert into sync.destinations (namespace_id, namespace_path, type, name, settings, lane_id)
       select $1, '', type, $2, '{}', lane_id from sync.destinations where id = $3`,
      [namespace, name, destinationId()],
    );
  await insert('root', 'e');
  await insert('root', 'f');
  await insert('admin', 'hidden');
  await db.query(
    `insert into sync.destinations (namespace_id, namespace_path, type, name, settings) values ('root', '', 'other', 'g', '{}')`,
  );
  const list = (after: string, limit: number) => listLanes(db, 'root', { after, limit, maxNames: 2 });
  const all = await list(randomlyFirst, 10);
  expect(all.map(({ destinationNames }) => destinationNames).sort()).toEqual([['d', 'e'], ['g']]);
  const [first] = await list(randomlyFirst, 1);
  expect(await list(first!.id, 1)).toMatchObject([{ id: all[1]!.id }]);
  expect(await list(all[1]!.id, 1)).toEqual([]);
});
