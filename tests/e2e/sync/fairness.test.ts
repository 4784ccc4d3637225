import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { expectStatus } from '../../harness/http.ts';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { SyncFixture } from '../../harness/sync-fixture.ts';

let system: Installation;
let quiet: SyncFixture;
let next = 0;

beforeAll(async () => {
  system = await startInstallation();
});
afterAll(() => system?.stop());
beforeEach(async () => {
  await system.sandbox.clearFaults();
  quiet = await SyncFixture.create(system);
});

const keysOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, `${i}`]));

/** Creates a destination whose external names begin with `busy/`. */
async function createBusy(region: string): Promise<SyncFixture> {
  next += 1;
  return SyncFixture.create(system, {
    region,
    granularity: 'secret-key',
    secret_name_template: `busy/${next}/{{ .SecretPath }}/{{ .SecretKey }}`,
  });
}

/** Queues one external secret for each key. */
async function queue(at: SyncFixture, keys: number): Promise<void> {
  expectStatus(await at.write('many', keysOf(keys)), 200);
  expectStatus(await at.set('many', {}, '?wait=0'), 200);
}

/** Returns the number of the backlog's external secrets that the store has. */
const busyDone = async (): Promise<number> =>
  Object.keys(await system.sandbox.secrets()).filter((name) => name.startsWith(`busy/${next}/`)).length;

/** Syncs five secrets of the quiet destination, one after the other. */
async function syncFive(): Promise<void> {
  for (const name of ['a', 'b', 'c', 'd', 'e']) await quiet.sync(name, { v: name });
}

test('a backlog of a slow destination does not delay writes to another one', async () => {
  const busy = await createBusy('eu-central-1');
  await system.sandbox.fault({ effect: 'slow', ms: 60, name: 'busy/*' });
  await queue(busy, 600);
  await syncFive();
  expect(await busyDone()).toBeLessThan(600);
});

test('a backlog of a destination that is down does not delay writes to another one', async () => {
  const busy = await createBusy('eu-central-1');
  const down = await system.sandbox.fault({ effect: 'reset', name: 'busy/*' });
  await queue(busy, 300);
  await down.applied(1);
  await syncFive();
  expect(await busyDone()).toBe(0);
});

test('a destination of the same account that is down does not delay writes to another one', async () => {
  const busy = await createBusy('eu-west-1');
  const down = await system.sandbox.fault({ effect: 'reset', name: 'busy/*' });
  await queue(busy, 300);
  await down.applied(1);
  await syncFive();
  expect(await busyDone()).toBe(0);
});

test('destinations that do not answer do not delay writes to another one', async () => {
  const silent = await system.sandbox.fault({ effect: 'silence', name: 'busy/*' });
  for (const region of ['eu-central-1', 'us-east-1', 'us-west-2']) await queue(await createBusy(region), 50);
  await silent.applied(3);
  await syncFive();
  expect(await busyDone()).toBe(0);
});
