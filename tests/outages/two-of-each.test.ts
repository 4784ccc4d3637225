import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { eventuallyEqual } from '../harness/eventually.ts';
import { describeDistributed, type Suite } from './describe-distributed.ts';
import { useBalancedClient } from './load/balanced-client.ts';
import { Load } from './load/load.ts';
import { all, readiness, watchReadiness } from './load/readiness.ts';
import { failover } from './servers/failover.ts';

/** One instance of each service, as they run on one node. */
const node = ['gateway', 'login', 'secrets', 'sync-control', 'worker'] as const;
/** The others run there. */
const otherNode = ['gateway-2', 'login-2', 'secrets-2', 'sync-control-2', 'worker-2', 'worker-3'] as const;
/** Number of the writers of `Load`. Each has one request in flight. */
const writers = 6;
const pairs = ['gateway', 'login', 'secrets', 'sync-control'] as const;
const killed = pairs.flatMap((one) => [one, `${one}-2`] as const);

const define = (suite: Suite) => {
  const balanced = useBalancedClient(suite);

  const processOf = (name: keyof Suite['system']['processes']) => suite.system.processes[name]!;

  test('a rolling restart of every service: no request fails, and everything is synced', async () => {
    const load = await Load.create(suite.system, { api: balanced.api });
    await load.run(async () => {
      for (const names of [node, otherNode]) {
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

  test('the drain of a node: no request fails, and each process is unready from the signal until it ends', async () => {
    const load = await Load.create(suite.system, { api: balanced.api });
    const drained = node.map(processOf);
    const served = pairs.map(processOf);
    await load.run(async () => {
      await load.written(20);
      const watch = watchReadiness(drained);
      const endings = await Promise.all(drained.map((process) => process.stop()));
      for (const ending of endings) expect(ending).toMatchObject({ code: 0, signal: null });
      const seen = await watch.end();
      for (const statuses of Object.values(seen)) {
        const fromUnready = statuses.slice(statuses.findIndex((status) => status !== 200));
        expect(fromUnready).not.toContain(200);
      }
      // A worker, which receives no requests, does not wait: it may end before it is asked.
      for (const { name } of served)
        expect({ name, seen: seen[name] }).toMatchObject({ seen: expect.arrayContaining([503]) });
      await sleep(1_000); // the node is away
      await load.written(20);
      await Promise.all(drained.map((process) => process.start()));
      await load.written(20);
    });
    suite.note(`drain of a node: synced after ${await load.untilSynced()} ms`);
    expect(load.refusals).toEqual({});
    expect(await load.lost()).toEqual([]);
    expect(await load.versionsPerWrite()).toBeLessThanOrEqual(1.2);
  });

  test('a restart of RabbitMQ: no request fails, and only those are unready that need it', async () => {
    const services = [...node, ...otherNode].map(processOf);
    const needIt = services.filter(({ name }) => /^(sync-control|worker)/.test(name));
    const load = await Load.create(suite.system, { api: balanced.api });
    await load.run(async () => {
      await load.written(20);
      await suite.system.rabbit.restart('SIGKILL', async () => {
        const expected = { ...all(services, 200), ...all(needIt, 503) };
        await eventuallyEqual(() => readiness(services), expected);
        await load.written(20); // without it
        await eventuallyEqual(() => readiness(services), expected);
      });
      await eventuallyEqual(() => readiness(services), all(services, 200));
    });
    suite.note(`RabbitMQ restarted: synced after ${await load.untilSynced()} ms`);
    expect(load.refusals).toEqual({});
    expect(await load.lost()).toEqual([]);
  });

  test('kill -9 of either one of two: only requests in flight fail', async () => {
    const load = await Load.create(suite.system, { api: balanced.api, secrets: 20, rounds: 2, removed: 0 });
    const failed = () => Object.values(load.refusals).reduce((sum, count) => sum + count, 0);
    await load.run(async () => {
      for (const name of killed) {
        const before = failed();
        await processOf(name).kill();
        await load.written(12); // without it
        await processOf(name).start();
        suite.note(`${name} killed: ${failed() - before} requests failed`);
        // Twice: a writer's next request may still use a connection whose end was not noticed yet.
        expect({ name, failed: failed() - before <= 2 * writers }).toEqual({ name, failed: true });
      }
    });
    suite.note(`kill -9: synced after ${await load.untilSynced()} ms; ${JSON.stringify(load.refusals)}`);
  });

  failover(suite, balanced);
};

await describeDistributed('two instances of each service, and of Postgres', define, {
  inPairs: true,
  isLong: true,
  withStandby: 'synchronous',
  env: { DRAIN_SECONDS: '2' },
});
