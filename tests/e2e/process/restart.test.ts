import { beforeEach, expect, test } from '@jest/globals';
import { eventually, eventuallyEqual, quietFor } from '../../harness/eventually.ts';
import { expectStatus } from '../../harness/http.ts';
import { longTest } from '../../harness/run-size.ts';
import { openDatabase } from '../../harness/standalone.ts';
import { SyncFixture } from '../../harness/sync-fixture.ts';
import { useInstallation } from '../use-installation.ts';

const system = useInstallation();
let at: SyncFixture;

beforeEach(async () => {
  await system.sandbox.clearFaults();
  at = await SyncFixture.create(system);
});

const names = Array.from({ length: 20 }, (_, index) => `app/s${index}`);

async function writeAll(value: string): Promise<void> {
  for (const name of names) expectStatus(await at.write(name, { value }), 200);
}

async function setAll(): Promise<void> {
  for (const name of names) expectStatus(await at.set(name, {}, '?wait=0'), 200);
}

/** The different statuses and external values of all secrets. */
async function outcome(): Promise<{ statuses: string[]; values: (string | null)[] }> {
  const secrets = await system.sandbox.secrets();
  const associated = Object.values(await at.associations());
  return {
    statuses: [...new Set(associated.map(({ sync_status: status }) => status))],
    values: [...new Set(associated.map(({ external_name: name }) => secrets[name]?.value ?? null))],
  };
}

const allSynced = (value: string) =>
  eventuallyEqual(outcome, { statuses: ['SYNCED'], values: [JSON.stringify({ value })] });

longTest('a crash between the answer to set and the sync: everything is synced', async () => {
  await writeAll('first');
  await system.sandbox.fault({ effect: 'slow', ms: 2_000 });
  await setAll();
  await system.crash();
  await allSynced('first');
});

test('a crash during calls to the store, and another during their repetition: everything is synced', async () => {
  await writeAll('first');
  await setAll();
  await allSynced('first');
  const calls = await system.sandbox.fault({ effect: 'slow', ms: 5_000 });
  await writeAll('second');
  await calls.applied(1);
  // The crash ends the fault as well, and the calls might be repeated before there is another one.
  expectStatus(await system.api('PATCH', 'sys/sync/config', { disabled: true }), 200);
  await system.crash();
  const repeated = await system.sandbox.fault({ effect: 'slow', ms: 1_500 });
  expectStatus(await system.api('PATCH', 'sys/sync/config', { disabled: false }), 200);
  await repeated.applied(1);
  await system.crash();
  await allSynced('second');
});

longTest(
  'a crash after the store performed calls whose responses were lost: at most one extra version',
  async () => {
    await writeAll('first');
    const lost = await system.sandbox.fault({ effect: 'act-then-die', times: 10 });
    await setAll();
    await lost.applied(1);
    await system.crash();
    await allSynced('first');
    const secrets = await system.sandbox.secrets();
    const counts = names.map((name) => secrets[at.externalName(name)]!.version_count);
    expect(Math.max(...counts)).toBeLessThanOrEqual(2);
  },
);

longTest(
  'a crash while syncing is disabled: it stays disabled, and enabling it syncs everything',
  async () => {
    expectStatus(await system.api('PATCH', 'sys/sync/config', { disabled: true }), 200);
    await writeAll('first');
    await setAll();
    await system.crash();
    await quietFor(1_000);
    expect(await outcome()).toEqual({ statuses: ['PENDING'], values: [null] });
    expectStatus(await system.api('PATCH', 'sys/sync/config', { disabled: false }), 200);
    await allSynced('first');
  },
);

test('a crash while changes are only in a queue: they are synced soon after the start', async () => {
  await writeAll('first');
  await setAll();
  await allSynced('first');
  const db = openDatabase(system);
  await eventually(
    () => db.query(`select from sync.reconciliation where started_at > 'epoch' and not running`),
    ({ length }) => length === 1, // the next round is due after 5 minutes
  );
  const [locked, crashed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = db.transaction(async (tx) => {
    await tx.query('lock table sync.associations in access exclusive mode'); // no change can be followed
    locked.resolve();
    await crashed.promise;
  });
  await locked.promise;
  await writeAll('second');
  await eventually(
    () => db.query('select from secrets.outbox'),
    ({ length }) => length === 0, // the relay has published all of them
  );
  await system.crash();
  crashed.resolve();
  await holding.catch(() => undefined); // its connection was lost
  await db.close();
  const started = performance.now();
  await allSynced('second');
  expect(performance.now() - started).toBeLessThan(30_000);
});

longTest('a crash during a purge: the purge is completed', async () => {
  await writeAll('first');
  await setAll();
  await allSynced('first');
  const removals = await system.sandbox.fault({ effect: 'slow', ms: 1_000, operation: 'DeleteSecret' });
  expectStatus(await system.api('DELETE', `${at.path}?purge=true`), 204);
  await removals.applied(1);
  await system.crash();
  await eventually(
    () => system.api('GET', at.path),
    ({ status }) => status === 404,
  );
  const left = Object.keys(await system.sandbox.secrets()).filter((name) => name.includes(at.accessor));
  expect(left).toEqual([]);
});
