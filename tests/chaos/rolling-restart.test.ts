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

  test.each(pairs)('kill -9 of one %s of two: only requests in flight fail', async (name) => {
    for (const one of [name, `${name}-2`] as const) {
      const load = await Load.create(suite.system, { api: balanced.api, secrets: 20, rounds: 2, removed: 0 });
      await load.run(async () => {
        await load.written(10);
        await processOf(one).kill();
        await load.written(20); // without it
        await processOf(one).start();
      });
      const failed = Object.values(load.refusals).reduce((sum, count) => sum + count, 0);
      suite.note(`${one} killed: ${failed} requests failed ${JSON.stringify(load.refusals)}`);
      expect(failed).toBeLessThanOrEqual(writers);
      await load.untilSynced();
    }
  });
};

await describeDistributed('two instances of each service', define, {
  inPairs: true,
  env: { DRAIN_SECONDS: '5' },
});
