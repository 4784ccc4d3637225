import { expect, test } from '@jest/globals';
import { Fault, syncQueue } from '@secrets/domain';
import { requestPut } from '@secrets/sync-entries';
import { createMetrics } from '@secrets/telemetry';
import { eventually } from '@secrets/testing';
import type { ConnectedDestination } from '../src/driver/driver.ts';
import { createSyncWorker } from '../src/runtime/sync-worker.ts';
import { emptyStore } from './empty-store.ts';
import { destinationType, insertSyncedSecret } from './synced-secret.ts';
import { useServers } from './use-servers.ts';

const { db, broker, keyRing, depsOfWorker } = useServers();

/** Runs a worker with this `put` on one entry until its metrics contain a line. Returns the lines. */
async function metricsOf(
  entryId: string,
  put: ConnectedDestination['put'],
  awaited: RegExp,
): Promise<string[]> {
  const metrics = createMetrics('test', { processMetrics: false });
  const connected = emptyStore({ put });
  const worker = createSyncWorker(
    { type: destinationType, connect: async () => connected },
    { ...depsOfWorker(), metrics },
    { concurrency: 1, leaseSeconds: 60, prefix: 'secrets' },
  );
  await worker.start();
  await broker.publish(syncQueue(destinationType), [{ entry_id: entryId, destination_id: entryId }]);
  await eventually(async () => expect(await metrics.text()).toMatch(awaited));
  await worker.stop();
  return (await metrics.text()).split('\n');
}

/** The value of a metric of this type with these other labels. */
const metricOf = (lines: readonly string[], name: string, ...labels: string[]): number => {
  const wanted = [`destination_type="${destinationType}"`, ...labels];
  const line = lines.find(
    (one) => one.startsWith(`${name}{`) && wanted.every((label) => one.includes(label)),
  );
  return Number(line?.split(' ').at(-1) ?? 'none');
};

test('an achieved intent is measured from when it was recorded, and the call of the provider by operation', async () => {
  const [entryId] = await insertSyncedSecret(db, keyRing, { a: '1' });
  await db.query(`update sync.entries set requested_at = now() - interval '1 minute' where id = $1`, [
    entryId,
  ]);
  const lines = await metricsOf(entryId!, async () => ({ remote: null }), /sync_latency_seconds_count/);
  expect(metricOf(lines, 'sync_latency_seconds_count', 'action="put"')).toBe(1);
  const seconds = metricOf(lines, 'sync_latency_seconds_sum', 'action="put"');
  expect(seconds).toBeGreaterThanOrEqual(60);
  expect(seconds).toBeLessThan(120);
  expect(metricOf(lines, 'sync_provider_seconds_count', 'operation="put"', 'outcome="done"')).toBe(1);
  expect(metricOf(lines, 'sync_attempts_in_progress')).toBe(0);
  expect(metricOf(lines, 'sync_leases_lost_total')).toBe(0);
});

test('a failed call is counted with the kind of its fault, and achieves nothing', async () => {
  const [entryId] = await insertSyncedSecret(db, keyRing, { a: '1' });
  const put = async () => {
    throw new Fault('forbidden', 'no permission');
  };
  const lines = await metricsOf(entryId!, put, /sync_attempt_seconds_count\{.*outcome="forbidden"/);
  expect(metricOf(lines, 'sync_attempt_seconds_count', 'outcome="forbidden"')).toBe(1);
  expect(metricOf(lines, 'sync_provider_seconds_count', 'operation="put"', 'outcome="forbidden"')).toBe(1);
  expect(lines.join('\n')).not.toContain('sync_latency_seconds_count{');
});

test('a lease that was lost is counted', async () => {
  const [entryId] = await insertSyncedSecret(db, keyRing, { a: '1' });
  const put = async () => {
    await db.query('update sync.entries set fence = fence + 1 where id = $1', [entryId]);
    return { remote: null };
  };
  const lines = await metricsOf(entryId!, put, /sync_leases_lost_total\S* 1/);
  expect(lines.join('\n')).not.toContain('sync_latency_seconds_count{');
});

test('the time of an intent is that of the first one which is not achieved', async () => {
  const [entryId] = await insertSyncedSecret(db, keyRing, { a: '1' });
  const ago = async () =>
    (
      await db.query<{ seconds: number }>(
        'select extract(epoch from now() - requested_at)::float8 as seconds from sync.entries where id = $1',
        [entryId],
      )
    )[0]!.seconds;
  await db.query(`update sync.entries set requested_at = now() - interval '1 hour' where id = $1`, [entryId]);
  await requestPut(db, [entryId!]);
  expect(await ago()).toBeGreaterThan(3_500);
  await db.query(`update sync.entries set lease_owner = 'a worker' where id = $1`, [entryId]);
  await requestPut(db, [entryId!]);
  expect(await ago()).toBeLessThan(60);
});
