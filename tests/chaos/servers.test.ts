import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { openRabbit } from '../../libs/broker/src/index.ts';
import { secretChangesQueue, syncQueue } from '../../libs/domain/src/index.ts';
import { client } from '../../scripts/demo/http.ts';
import { type Distributed, ownServers, startDistributed } from './distributed.ts';
import { createLoad, type Load } from './load.ts';

const servers = await ownServers();
if (typeof servers === 'string') console.warn(`not run: killing Postgres and RabbitMQ: ${servers}`);

let system: Distributed;
beforeAll(async () => {
  if (typeof servers !== 'string') system = await startDistributed(servers);
});
afterAll(() => system?.stop());

const soon = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const report: string[] = [];
const note = (line: string) => report.push(line);
afterAll(() => console.log(report.join('\n')));

const answersOf = ({ refusals }: Load) => JSON.stringify(Object.fromEntries(refusals));
const wipe = (folder: string) => rmSync(join(folder, 'data'), { recursive: true, force: true });
const loadOptions = { secrets: 60, rounds: 3 };

(typeof servers === 'string' ? describe.skip : describe)('a server is ended under load', () => {
  afterEach(() => {
    for (const process of Object.values(system.processes))
      expect({ name: process.name, unexpectedEnds: process.unexpectedEnds }).toMatchObject({
        unexpectedEnds: 0,
      });
  });

  test.each(['SIGTERM', 'SIGKILL'] as const)(
    'RabbitMQ, by %s: requests go on, and everything arrives',
    async (signal) => {
      const load = await createLoad(system, loadOptions);
      const started = Date.now();
      await load.run(async () => {
        await soon(500);
        await system.rabbit.restart(signal);
      });
      note(
        `RabbitMQ ${signal}: load and restart ${Date.now() - started} ms, right after ${await load.untilRight()} ms; ${answersOf(load)}`,
      );
      expect(answersOf(load)).toBe('{}');
      expect(await load.versionsPerWrite()).toBeLessThanOrEqual(1.5);
    },
  );

  test('RabbitMQ, and every queue with what waited in it is lost: the sweep announces again', async () => {
    const api = client(system.url, system.rootToken);
    await api('PATCH', 'sys/sync/config', { disabled: true });
    const load = await createLoad(system, loadOptions);
    await load.run();
    await soon(1_500); // announced, and waiting in the queue
    await system.rabbit.restart('SIGKILL', wipe);
    await api('PATCH', 'sys/sync/config', { disabled: false });
    note(`RabbitMQ wiped: right after ${await load.untilRight()} ms; ${answersOf(load)}`);
    expect(await load.versionsPerWrite()).toBeLessThanOrEqual(1);
  });

  test.each(['SIGINT', 'SIGKILL'] as const)(
    'Postgres, by %s: 503 meanwhile, then everything arrives',
    async (signal) => {
      const load = await createLoad(system, loadOptions);
      const started = Date.now();
      await load.run(async () => {
        await soon(500);
        await system.postgres.restart(signal, () => soon(3_000));
      });
      note(
        `Postgres ${signal}: load and restart ${Date.now() - started} ms, right after ${await load.untilRight()} ms; ${answersOf(load)}`,
      );
      expect(load.misshapen).toEqual([]);
      expect([...load.refusals.keys()]).toEqual([503]);
      expect(await load.versionsPerWrite()).toBeLessThanOrEqual(1.5);
    },
  );

  test('Postgres is away for longer than a message would be tried without a break: none is put aside', async () => {
    const load = await createLoad(system, loadOptions);
    await load.run(async () => {
      await soon(500);
      await system.postgres.restart('SIGINT', () => soon(12_000));
    });
    note(`Postgres away for 12 s: right after ${await load.untilRight()} ms; ${answersOf(load)}`);
    expect([...load.refusals.keys()]).toEqual([503]);
    expect(await deadLetters()).toEqual([0, 0]);
  });
});

async function deadLetters(): Promise<number[]> {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const broker = openRabbit({ url: system.rabbit.url, log });
  const queues = [secretChangesQueue, syncQueue('cloudA-sm')];
  const depths = await Promise.all(queues.map((queue) => broker.deadLetterDepth(queue)));
  await broker.close();
  return depths;
}
