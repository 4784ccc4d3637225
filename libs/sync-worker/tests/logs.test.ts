import { expect, test } from '@jest/globals';
import { Fault, type FaultKind, syncQueue } from '@secrets/domain';
import { createLogger } from '@secrets/telemetry';
import { eventually } from '@secrets/testing';
import { createSyncWorker } from '../src/runtime/sync-worker.ts';
import { emptyStore } from './empty-store.ts';
import { destinationType, insertSyncedSecret } from './synced-secret.ts';
import { useServers } from './use-servers.ts';

const { db, broker, keyRing, depsOfWorker } = useServers();

/** Returns the line that a worker logs about the failure of a put. */
async function lineOfFailure(entryId: string, error: Error): Promise<Record<string, unknown>> {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const put = () => Promise.reject(error);
  const worker = createSyncWorker(
    { type: destinationType, connect: async () => emptyStore({ put }) },
    { ...depsOfWorker(), log: createLogger({ service: 'test', destination }) },
    { concurrency: 1, leaseSeconds: 60, prefix: 'secrets' },
  );
  await worker.start();
  await broker.publish(syncQueue(destinationType), [{ entry_id: entryId, destination_id: entryId }]);
  const failed = () => lines.find((line) => line.includes('"msg":"sync failed'));
  await eventually(() => expect(failed()).toBeDefined());
  await worker.stop();
  expect(lines.join('')).not.toContain('canary');
  const names = [...failed()!.matchAll(/"(\w+)":/g)].map(([, name]) => name);
  expect(names).toEqual([...new Set(names)]);
  return JSON.parse(failed()!);
}

test.each<[FaultKind, string]>([
  ['forbidden', 'error'],
  ['throttled', 'warn'],
])(
  'a sync that fails with %s is logged as %s, with the names of everything involved',
  async (kind, level) => {
    const [entryId] = await insertSyncedSecret(db, keyRing, { password: 'canary' });
    const [{ id: destinationId } = { id: '' }] = await db.query<{ id: string }>(
      `update sync.destinations set name = 'main', namespace_path = 'team/'
      where id = (select destination_id from sync.entries where id = $1) returning id`,
      [entryId],
    );
    expect(await lineOfFailure(entryId!, new Fault(kind, 'no'))).toMatchObject({
      level,
      entryId,
      destinationId,
      destinationType,
      destination: 'main',
      namespace: 'team/',
      mount: 'kv',
      secretName: 's',
      externalName: 'password',
      fault: kind,
      reason: 'no',
    });
    await db.query('delete from sync.destinations where id = $1', [destinationId]);
  },
);

test('an unexpected failure of a sync is an error with the same names', async () => {
  const [entryId] = await insertSyncedSecret(db, keyRing, { password: 'canary' });
  const line = await lineOfFailure(entryId!, new TypeError('a bug'));
  expect(line).toMatchObject({ level: 'error', mount: 'kv', secretName: 's', externalName: 'password' });
});
