import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type BalancedClient, balancedClient } from './balanced-client.ts';
import { describeDistributed, type Suite } from './describe-distributed.ts';
import { Load } from './load.ts';

/** As in `Load`: each has one request in flight. */
const writers = 6;
const pairs = ['gateway', 'login', 'secrets', 'sync-control'] as const;

const define = (suite: Suite) => {
  let balanced: BalancedClient;
  beforeAll(() => {
    const { processes, rootToken } = suite.system;
    balanced = balancedClient([processes.gateway, processes['gateway-2']!], rootToken);
  });
  afterAll(() => balanced?.stop());

  const processOf = (name: keyof Suite['system']['processes']) => suite.system.processes[name]!;

  test('a rolling restart of every service: no request fails, and everything is synced', async () => {
    const load = await Load.create(suite.system, { api: balanced.api });
    const rounds = [
      ['gateway', 'login', 'secrets', 'sync-control', 'worker'],
      ['gateway-2', 'login-2', 'secrets-2', 'sync-control-2', 'worker-2', 'worker-3'],
    ] as const;
    await load.run(async () => {
      for (const names of rounds) {
        await load.written(20);
        const endings = await Promise.all(
          names.map(async (name) => {
            const ending = await processOf(name).stop();
            await processOf(name).start();
            return { name, ...ending };
          }),
        );
        suite.note(
          endings.map(({ name, milliseconds }) => `${name} ended after ${milliseconds} ms`).join(', '),
        );
        for (const ending of endings) expect(ending).toMatchObject({ code: 0, signal: null });
      }
      await load.written(20);
    });
    suite.note(`rolling restart: synced after ${await load.untilSynced()} ms`);
    expect(load.refusals).toEqual({});
    expect(await load.versionsPerWrite()).toBeLessThanOrEqual(1.2);
  });

  test('kill -9 of either one of two: only requests in flight fail', async () => {
    const load = await Load.create(suite.system, { api: balanced.api, secrets: 20, rounds: 2, removed: 0 });
    const failed = () => Object.values(load.refusals).reduce((sum, count) => sum + count, 0);
    await load.run(async () => {
      for (const name of pairs.flatMap((one) => [one, `${one}-2`] as const)) {
        const before = failed();
        await processOf(name).kill();
        await load.written(12); // without it
        await processOf(name).start();
        suite.note(`${name} killed: ${failed() - before} requests failed`);
        expect({ name, failed: failed() - before <= writers }).toEqual({ name, failed: true });
      }
    });
    suite.note(`kill -9: synced after ${await load.untilSynced()} ms; ${JSON.stringify(load.refusals)}`);
  });
};

await describeDistributed('two instances of each service', define, {
  inPairs: true,
  env: { DRAIN_SECONDS: '5' },
});
