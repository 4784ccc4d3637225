import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { ProcessName } from '../harness/distributed.ts';
import { describeDistributed } from './describe-distributed.ts';
import { Load } from './load.ts';

const killed: ProcessName[] = ['sync-control', 'sync-control-2', 'worker', 'worker-2', 'worker-3'];
const kills = 6;
const writes = ['CreateSecret', 'PutSecretValue', 'DeleteSecret'];
/** The budget of one account (docs/operations.md): calls that write, per second and at once. */
const budget = { perSecond: 50, burst: 50 };

await describeDistributed('scheduling by several replicas', (suite) => {
  /** Kills a random one of the processes, and starts it again. */
  async function killOne(): Promise<void> {
    const process = suite.system.processes[killed[Math.floor(Math.random() * killed.length)]!];
    await process.kill();
    await process.start();
  }

  test('killed at random while the store throttles every third call: nothing is lost, stuck or done twice at once', async () => {
    const load = await Load.create(suite.system, { secrets: 24, rounds: 2 });
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
    suite.note(
      `${calls.length} calls that write in ${seconds.toFixed(1)} s; ${mostWithin(times, 5_000)} at most in 5 s`,
    );
    expect(mostWithin(times, 5_000)).toBeLessThanOrEqual(budget.burst + 5 * budget.perSecond);
  });
});

/** How many of the ascending times lie within any span of this length, at most. */
function mostWithin(times: readonly number[], spanMs: number): number {
  let first = 0;
  return times.reduce((most, time, index) => {
    while (time - times[first]! > spanMs) first += 1;
    return Math.max(most, index - first + 1);
  }, 0);
}
