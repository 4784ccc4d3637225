import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { secretChangesQueue, syncQueue } from '../../../libs/domain/src/index.ts';
import { eventually } from '../../harness/eventually.ts';
import { client, expectStatus } from '../../harness/http.ts';
import { isLongRun, longTest } from '../../harness/run-size.ts';
import type { Suite } from '../describe-distributed.ts';
import { Load } from '../load/load.ts';
import { withBroker } from '../servers/with-broker.ts';

const secrets = 30;
/** Writes before a server is ended: the load is in progress, and most of it is still to come. */
const someWrites = 20;
const queues = [secretChangesQueue, syncQueue('cloudA-sm')];

export function endedServers(suite: Suite): void {
  const { note } = suite;

  /** A crash, and in long runs also an orderly stop. */
  const signals = (orderly: 'SIGTERM' | 'SIGINT') =>
    isLongRun ? [orderly, 'SIGKILL' as const] : ['SIGKILL' as const];

  const outage = (ms: number) => () => sleep(ms);
  const wipe = (folder: string) => rmSync(join(folder, 'data'), { recursive: true, force: true });

  const setDisabled = async (disabled: boolean) => {
    const api = client(suite.system.url, suite.system.rootToken);
    expectStatus(await api('PATCH', 'sys/sync/config', { disabled }), 200);
  };

  longTest.each(signals('SIGTERM'))(
    'RabbitMQ, with %s: no request is refused, and everything is synced',
    async (signal) => {
      const load = await Load.create(suite.system, { secrets });
      await load.run(async () => {
        await load.written(someWrites);
        await suite.system.rabbit.restart(signal);
      });
      note(`RabbitMQ ${signal}: synced after ${await load.untilSynced()} ms`);
      expect(load.refusals).toEqual({});
      expect(await load.versionsPerWrite()).toBeLessThanOrEqual(1.5);
    },
  );

  test('RabbitMQ, with the loss of all queues: the messages are sent again', async () => {
    await setDisabled(true);
    const load = await Load.create(suite.system, { secrets });
    await load.run();
    await withBroker(suite.system, (broker) =>
      eventually(
        () => broker.depth(syncQueue('cloudA-sm')),
        ({ ready }) => ready > 0, // as many as the window of a new destination permits
      ),
    );
    await suite.system.rabbit.restart('SIGKILL', wipe);
    await setDisabled(false);
    note(`RabbitMQ wiped: synced after ${await load.untilSynced()} ms`);
    expect(load.refusals).toEqual({});
    expect(await load.versionsPerWrite()).toBeLessThanOrEqual(1);
  });

  test.each(signals('SIGINT'))(
    'Postgres, with %s: requests are refused with 503 meanwhile, then everything is synced',
    async (signal) => {
      const load = await Load.create(suite.system, { secrets });
      await load.run(async () => {
        await load.written(someWrites);
        await suite.system.postgres.restart(signal, outage(3_000));
      });
      note(`Postgres ${signal}: synced after ${await load.untilSynced()} ms`);
      expect(load.malformed).toEqual([]);
      expect(Object.keys(load.refusals)).toEqual(['503']);
      expect(await load.versionsPerWrite()).toBeLessThanOrEqual(1.5);
    },
  );

  longTest(
    'Postgres, for longer than all deliveries of a message take: no message is dead-lettered',
    async () => {
      const load = await Load.create(suite.system, { secrets });
      await load.run(async () => {
        await load.written(someWrites);
        await suite.system.postgres.restart('SIGINT', outage(12_000));
      });
      note(`Postgres away for 12 s: synced after ${await load.untilSynced()} ms`);
      expect(Object.keys(load.refusals)).toEqual(['503']);
      const depths = await withBroker(suite.system, (broker) =>
        Promise.all(queues.map((queue) => broker.deadLetterDepth(queue))),
      );
      expect(depths).toEqual([0, 0]);
    },
  );
}
