import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { ProcessName } from '../harness/distributed.ts';
import { describeDistributed, type Suite } from './describe-distributed.ts';
import { Load } from './load/load.ts';
import { peakWithin } from './load/peak-within.ts';

const killed: ProcessName[] = ['sync-control', 'sync-control-2', 'worker', 'worker-2', 'worker-3'];
const kills = Number(process.env.KILLS ?? 6);
const writes = ['CreateSecret', 'PutSecretValue', 'DeleteSecret'];
/** The budget of one account, in calls per second and at once: less than the load needs. */
const budget = { perSecond: 4, burst: 4 };

const define = (suite: Suite) => {
  /** Kills a random one of the processes, and starts it again. */
  async function killOne(): Promise<void> {
    const process = suite.system.processes[killed[Math.floor(Math.random() * killed.length)]!];
    await process.kill();
    await process.start();
  }

  test('killed at random while the store throttles every third call: nothing is lost, stuck or done twice at once', async () => {
    const load = await Load.create(suite.system, { secrets: 12, rounds: 2, pauseMs: 600 });
    await suite.sandbox.fault({ effect: 'slow', ms: 40 });
    await suite.sandbox.fault({ effect: 'throttle', operation: writes, every: 3 });
    await load.run(async () => {
      for (let left = kills; left > 0; left -= 1) {
        await sleep(200 + Math.random() * 800);
        await killOne();
      }
    });
    suite.note(
      `killed ${kills} times, every third call throttled: synced after ${await load.untilSynced()} ms`,
    );
    const calls = (await suite.sandbox.calls()).filter(({ operation }) => writes.includes(operation));
    expect(calls.filter(({ concurrent }) => concurrent !== undefined)).toEqual([]);
    const times = calls.map(({ at }) => Date.parse(at)).sort((a, b) => a - b);
    const seconds = (times.at(-1)! - times[0]!) / 1_000;
    const peak = peakWithin(times, 5_000);
    suite.note(`${calls.length} calls that write in ${seconds.toFixed(1)} s, at most ${peak} in 5 s`);
    // More than the budget: what a stalled worker has admitted is called together, and an attempt repeats a throttled
    // call by itself.
    expect(peak).toBeLessThanOrEqual(1.5 * (budget.burst + 5 * budget.perSecond));
  });
};

const env = { BUDGETS: `cloudA-sm=${budget.perSecond}` };
await describeDistributed('scheduling by several replicas', define, { env, isLong: true });
