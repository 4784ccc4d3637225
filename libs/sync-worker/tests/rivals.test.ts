import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { syncQueue } from '@secrets/domain';
import { requestRemoval } from '@secrets/sync-entries';
import { eventually } from '@secrets/testing';
import { createSyncWorker } from '../src/runtime/sync-worker.ts';
import { emptyStore } from './empty-store.ts';
import { insertSyncedSecret } from './synced-secret.ts';
import { useServers } from './use-servers.ts';

const { db, broker, keyRing, depsOfWorker } = useServers();
const type = 'codehost';

/** Two entries that wrote the same external secret before the service compared places; the first one began earlier. */
async function bothWritten(): Promise<[string, string]> {
  const [first, second] = [
    ...(await insertSyncedSecret(db, keyRing, { P: 'one' }, type)),
    ...(await insertSyncedSecret(db, keyRing, { P: 'two' }, type)),
  ] as [string, string];
  await db.query(
    `update sync.destinations set scope_id = $1 where id = any(array(select destination_id from sync.entries where id = any($2::uuid[])))`,
    [randomUUID(), [first, second]],
  );
  const written = `remote = '{}', put_started_at = now() - $2 * interval '1 day', status = 'SYNCED', applied_generation = generation`;
  for (const [id, days] of [
    [first, 2],
    [second, 1],
  ])
    await db.query(`update sync.entries set ${written} where id = $1`, [id, days]);
  return [first, second];
}

/** Runs a worker on these entries until `isDone`. Returns the values that it put, and `removed` for each removal. */
async function work(entryIds: string[], isDone: () => Promise<boolean>): Promise<string[]> {
  const calls: string[] = [];
  const connected = emptyStore({
    put: async ({ value }) => {
      calls.push(value.reveal());
      return { remote: {} };
    },
    remove: async () => void calls.push('removed'),
  });
  const options = { concurrency: 1, leaseSeconds: 60, prefix: 'secrets', stopGraceSeconds: 0.1 };
  const worker = createSyncWorker({ type, connect: async () => connected }, depsOfWorker(), options);
  await worker.start();
  await broker.publish(
    syncQueue(type),
    entryIds.map((id) => ({ entry_id: id, destination_id: id })),
  );
  await eventually(isDone);
  await worker.stop();
  return calls;
}

const statusOf = async (id: string) =>
  (await db.query<{ status: string }>('select status from sync.entries where id = $1', [id]))[0]?.status;
const remove = (id: string) => requestRemoval(db, [{ id, waitsFor: null }]);

test('of two destinations that have written one external secret, neither removal deletes it', async () => {
  const [first, second] = await bothWritten();
  await remove(second);
  expect(await work([second], async () => (await statusOf(second)) === undefined)).toEqual([]);
  expect(await statusOf(first)).toBe('PENDING');
});

test('when the older one is removed, the external secret gets the value of the newer one', async () => {
  const [first, second] = await bothWritten();
  await remove(first);
  expect(await work([first], async () => (await statusOf(first)) === undefined)).toEqual([]);
  expect(await work([second], async () => (await statusOf(second)) === 'SYNCED')).toEqual(['two']);
});

test('if both are removed, the external secret is deleted once', async () => {
  const [first, second] = await bothWritten();
  await remove(first);
  await remove(second);
  const isGone = async () =>
    (await Promise.all([first, second].map(statusOf))).every((one) => one === undefined);
  expect(await work([second, first], isGone)).toEqual(['removed']);
});
