import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { ProcessName } from '../../harness/distributed.ts';
import { eventually, quietFor } from '../../harness/eventually.ts';
import { client, expectStatus } from '../../harness/http.ts';
import { longTest } from '../../harness/run-size.ts';
import type { Suite } from '../describe-distributed.ts';
import { Load } from '../load/load.ts';

// The exit code of a process whose stop times out is 1: 0 says that it ended in time.
const inTime = { code: 0, signal: null };
const services: ProcessName[] = [
  'gateway',
  'worker',
  'worker-2',
  'sync-control',
  'sync-control-2',
  'secrets',
  'login',
];
/** Longer than a few attempts take. */
const outageMs = 5_000;
const workers: ProcessName[] = ['worker', 'worker-2'];

export function orderlyStops(suite: Suite): void {
  const { note } = suite;

  const callCount = async () => (await suite.sandbox.calls()).length;

  async function setDisabled(disabled: boolean): Promise<void> {
    const api = client(suite.system.url, suite.system.rootToken);
    expectStatus(await api('PATCH', 'sys/sync/config', { disabled }), 200);
  }

  longTest('SIGTERM during slow calls: each service exits with 0 in time and finishes its work', async () => {
    const load = await Load.create(suite.system, { rounds: 2 });
    await load.run(async () => {
      for (const name of services) {
        const calls = await suite.sandbox.fault({ effect: 'slow', ms: 500 });
        await calls.applied(1);
        const ending = await suite.system.processes[name].stop();
        note(`SIGTERM under load, ${name}: ${ending.milliseconds} ms`);
        expect({ name, ...ending }).toMatchObject(inTime);
        await suite.system.processes[name].start();
        await suite.sandbox.clearFaults();
      }
    });
    note(`every service stopped and started once: synced after ${await load.untilSynced()} ms`);
    expect(await load.versionsPerWrite()).toBeLessThanOrEqual(1.2);
  });

  longTest('SIGTERM while a store is silent: the workers exit with 0 in time', async () => {
    const load = await Load.create(suite.system, { secrets: 10, rounds: 1, removed: 0 });
    const calls = await suite.sandbox.fault({ effect: 'silence' });
    await load.run();
    await calls.applied(1);
    const endings = await Promise.all(workers.map((name) => suite.system.processes[name].stop()));
    note(`SIGTERM during silence: ${endings.map(({ milliseconds }) => milliseconds).join(', ')} ms`);
    for (const ending of endings) expect(ending).toMatchObject(inTime);
    await suite.sandbox.clearFaults();
    await Promise.all(workers.map((name) => suite.system.processes[name].start()));
    note(`after silence: synced after ${await load.untilSynced()} ms`);
  });

  longTest('SIGTERM while idle: each service exits with 0 in time', async () => {
    for (const name of services) {
      const ending = await suite.system.processes[name].stop();
      note(`SIGTERM while idle, ${name}: ${ending.milliseconds} ms`);
      expect({ name, ...ending }).toMatchObject(inTime);
    }
    await Promise.all(services.map((name) => suite.system.processes[name].start()));
  });

  longTest(
    'an outage of all stores: no request is refused, and everything is synced afterwards',
    async () => {
      const load = await Load.create(suite.system, { rounds: 2 });
      await load.run(async () => {
        await load.written(20);
        await suite.system.processes.sandbox.kill();
        await sleep(outageMs);
        await suite.system.processes.sandbox.start();
      });
      note(`stores unavailable for ${outageMs} ms: synced after ${await load.untilSynced()} ms`);
      expect(load.refusals).toEqual({});
      expect(await load.versionsPerWrite()).toBeLessThanOrEqual(1);
    },
  );

  longTest.each([{ effect: 'silence' }, { effect: 'throttle', retryAfterSeconds: 2 }])(
    'a fault of one destination ($effect) does not hold up another',
    async (fault) => {
      const failing = await Load.create(suite.system);
      const other = await Load.create(suite.system, { secrets: 30, rounds: 2 });
      await suite.sandbox.fault({ ...fault, name: failing.namePattern });
      await failing.run();
      await other.run();
      note(`next to a destination with ${fault.effect}: synced after ${await other.untilSynced()} ms`);
      expect(Object.values(await failing.statuses())).not.toContain('SYNCED');
      await suite.sandbox.clearFaults();
      note(`after ${fault.effect}: synced after ${await failing.untilSynced()} ms`);
    },
  );

  longTest(
    'syncing disabled under load: calls stop within seconds; enabling it syncs everything',
    async () => {
      const load = await Load.create(suite.system, { secrets: 120 });
      await load.run(async () => {
        await load.written(20);
        await setDisabled(true);
        const before = await callsAtRest();
        await quietFor(2_000);
        expect(await callCount()).toBe(before);
        expect(Object.values(await load.statuses())).toContain('PENDING');
        await setDisabled(false);
      });
      note(`disabled and enabled: synced after ${await load.untilSynced()} ms`);
    },
  );

  /** The number of calls after a time without any that is longer than an attempt; those in progress have ended. */
  async function callsAtRest(): Promise<number> {
    let last = await callCount();
    await eventually(
      async () => {
        const before = last;
        await quietFor(3_500);
        last = await callCount();
        return last - before;
      },
      (more) => more === 0,
    );
    return last;
  }
}
