import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { ProcessName } from '../../harness/distributed.ts';
import { isLongRun, longTest } from '../../harness/run-size.ts';
import type { Suite } from '../describe-distributed.ts';
import { Load } from '../load/load.ts';

export function killedServices(suite: Suite): void {
  const { note } = suite;

  async function crash(name: ProcessName): Promise<void> {
    await suite.system.processes[name].kill();
    await suite.system.processes[name].start();
  }

  /** Crashes it several times, at random moments. */
  async function crashAtRandom(name: ProcessName, times: number): Promise<void> {
    for (let left = times; left > 0; left -= 1) {
      await sleep(100 + Math.random() * 700);
      await crash(name);
    }
  }

  longTest('without a crash, no request is refused and each write creates at most one version', async () => {
    const load = await Load.create(suite.system);
    await load.run();
    note(`no crash: synced after ${await load.untilSynced()} ms`);
    expect(load.refusals).toEqual({});
    expect(await load.versionsPerWrite()).toBeLessThanOrEqual(1);
  });

  const duringCalls = [
    { effect: 'act-then-die', times: 20 },
    { effect: 'slow', ms: 1_500 },
  ].slice(0, isLongRun ? 2 : 1);
  test.each(duringCalls)(
    'of both workers during their calls, and of a sync-control ($effect): everything is synced, with few extra versions',
    async (fault) => {
      const load = await Load.create(suite.system, { rounds: 2 });
      const calls = await suite.sandbox.fault(fault);
      await load.run(async () => {
        await calls.applied(5);
        await crash('worker');
        await crash('sync-control');
        await calls.applied(8);
        await crash('worker-2');
      });
      await suite.sandbox.clearFaults();
      note(`worker killed (${fault.effect}): synced after ${await load.untilSynced()} ms`);
      expect(await load.versionsPerWrite()).toBeLessThanOrEqual(2);
    },
  );

  longTest('of both sync-controls, between commits and their messages: everything is synced', async () => {
    const load = await Load.create(suite.system);
    await load.run(async () => {
      await Promise.all([crashAtRandom('sync-control', 3), crashAtRandom('sync-control-2', 3)]);
    });
    const ms = await load.untilSynced();
    note(`sync-control killed 6 times: synced after ${ms} ms; refusals ${JSON.stringify(load.refusals)}`);
    expect(load.malformed).toEqual([]);
    expect(await load.versionsPerWrite()).toBeLessThanOrEqual(2);
  });

  longTest('of secrets: acknowledged writes are kept and synced', async () => {
    const load = await Load.create(suite.system);
    await load.run(() => crashAtRandom('secrets', 4));
    const ms = await load.untilSynced();
    note(`secrets killed 4 times: synced after ${ms} ms; refusals ${JSON.stringify(load.refusals)}`);
    expect(load.malformed).toEqual([]);
  });

  longTest('of the gateway: clients lose connections, and acknowledged writes are kept', async () => {
    const load = await Load.create(suite.system);
    await load.run(() => crashAtRandom('gateway', 3));
    const ms = await load.untilSynced();
    note(`gateway killed 3 times: synced after ${ms} ms; refusals ${JSON.stringify(load.refusals)}`);
    expect(load.refusals[0]).toBeGreaterThan(0);
  });
}
