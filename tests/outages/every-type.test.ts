import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { sandboxTypes, templateFor } from '../harness/destination-types.ts';
import { otherWorkerNames } from '../harness/distributed.ts';
import { eventuallyEqual } from '../harness/eventually.ts';
import { runSize } from '../harness/run-size.ts';
import { describeDistributed, type Suite } from './describe-distributed.ts';
import { peakWithin } from './load/peak-within.ts';
import { RetryingClient } from './load/retrying-client.ts';

/** The budget of one account of each type, in entries per second: less than the load needs. */
const perSecond = 3;
const secrets = 8;
const rounds = 3;
const kills = runSize('KILLS', 6, 10);
const killed = ['sync-control', 'sync-control-2', 'worker', 'worker-2', ...otherWorkerNames] as const;

const define = (suite: Suite) => {
  const pathOf = (type: string) => `sys/sync/destinations/${type}/all`;

  async function prepare(api: RetryingClient['request']): Promise<void> {
    await api('POST', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } });
    for (const { type, fields } of sandboxTypes) {
      const body = {
        ...fields(await suite.sandbox.store(type)),
        granularity: 'secret-path',
        secret_name_template: templateFor(type, 'allx{{ .SecretBaseName }}'),
      };
      await api('POST', pathOf(type), body);
      await suite.sandbox.fault({ store: type, effect: 'slow', ms: 30 });
      await suite.sandbox.fault({ store: type, effect: 'throttle', every: 5, retryAfterSeconds: 1 });
    }
  }

  async function load(api: RetryingClient['request']): Promise<Record<string, string>> {
    const wanted: Record<string, string> = {};
    for (let round = 1; round <= rounds; round += 1) {
      for (let at = 0; at < secrets; at += 1) {
        const data = { value: `${at} of round ${round}` };
        await api('POST', `kv/data/s${at}`, { data });
        wanted[`allxs${at}`] = JSON.stringify(data);
        if (round > 1) continue;
        for (const { type } of sandboxTypes)
          await api('POST', `${pathOf(type)}/associations/set?wait=0`, {
            mount: 'kv',
            secret_name: `s${at}`,
          });
      }
      await sleep(2_500);
    }
    return wanted;
  }

  async function killAtRandom(): Promise<void> {
    for (let left = kills; left > 0; left -= 1) {
      await sleep(300 + Math.random() * 1_200);
      const process = suite.system.processes[killed[Math.floor(Math.random() * killed.length)]!]!;
      await process.kill();
      await process.start();
    }
  }

  async function held(type: string): Promise<Record<string, string>> {
    const contents = Object.entries(await suite.sandbox.contents(type));
    return Object.fromEntries(contents.map(([name, value]) => [name.toLowerCase(), value]));
  }

  test('two replicas of each worker, killed at random while every store throttles: nothing is lost or done twice at once', async () => {
    const { request } = new RetryingClient(suite.system);
    await prepare(request);
    const [wanted] = await Promise.all([load(request), killAtRandom()]);
    const started = Date.now();
    for (const { type } of sandboxTypes) await eventuallyEqual(() => held(type), wanted, 240_000);
    suite.note(
      `killed ${kills} times: synced ${((Date.now() - started) / 1_000).toFixed(1)} s after the last write`,
    );
    for (const { type, puts } of sandboxTypes) {
      const calls = (await suite.sandbox.calls(type)).filter(({ operation }) => puts.includes(operation));
      expect(calls.filter(({ concurrent }) => concurrent !== undefined)).toEqual([]);
      const times = calls.map(({ at }) => Date.parse(at)).sort((a, b) => a - b);
      const peak = peakWithin(times, 5_000);
      suite.note(`${type}: ${calls.length} puts, at most ${peak} in 5 s`);
      expect(peak).toBeLessThanOrEqual(perSecond + 5 * perSecond);
    }
  });
};

const env = { BUDGETS: sandboxTypes.map(({ type }) => `${type}=${perSecond}`).join(',') };
await describeDistributed('every type by several replicas', define, { env, everyType: true, isLong: true });
