import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  type Distributed,
  ownServers,
  type ProcessName,
  sandboxOf,
  startDistributed,
} from './distributed.ts';
import { createLoad } from './load.ts';

const servers = await ownServers();
if (typeof servers === 'string') console.warn(`not run: killing services: ${servers}`);

let system: Distributed;
beforeAll(async () => {
  if (typeof servers !== 'string') system = await startDistributed(servers);
});
afterAll(() => system?.stop());

const soon = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const report: string[] = [];
const note = (line: string) => report.push(line);
afterAll(() => console.log(report.join('\n')));

async function crash(name: ProcessName): Promise<void> {
  await system.processes[name].kill();
  await system.processes[name].start();
}

/** Kills it again and again, at moments drawn at random. */
const crashAtRandom = (name: ProcessName, times: number) => async () => {
  for (let left = times; left > 0; left -= 1) {
    await soon(100 + Math.random() * 700);
    await crash(name);
  }
};

(typeof servers === 'string' ? describe.skip : describe)('a service is killed with -9 under load', () => {
  beforeEach(() => sandboxOf(system).clearFaults());
  afterEach(() => {
    for (const process of Object.values(system.processes))
      expect({ name: process.name, unexpectedEnds: process.unexpectedEnds }).toMatchObject({
        unexpectedEnds: 0,
      });
  });

  test('nothing is killed: what the rest is measured against', async () => {
    const load = await createLoad(system);
    const started = Date.now();
    await load.run();
    const ran = Date.now() - started;
    note(`undisturbed: load ${ran} ms, right after ${await load.untilRight()} ms more`);
    expect(load.refusals.size).toBe(0);
    expect(await load.versionsPerWrite()).toBeLessThanOrEqual(1);
  });

  test.each([
    { effect: 'slow', ms: 1_500 },
    { effect: 'act-then-die', times: 20 },
  ])('a worker in the middle of its calls ($effect)', async (fault) => {
    const load = await createLoad(system, { rounds: 2 });
    await sandboxOf(system).fault(fault);
    await load.run(async () => {
      await soon(700);
      await crash('worker');
      await soon(300);
      await crash('worker-2');
    });
    await sandboxOf(system).clearFaults();
    note(`worker killed (${fault.effect}): right after ${await load.untilRight()} ms`);
    expect(await load.versionsPerWrite()).toBeLessThanOrEqual(2);
  });

  test('sync-control, between its commits and their announcements', async () => {
    const load = await createLoad(system);
    await load.run(async () => {
      await Promise.all([crashAtRandom('sync-control', 3)(), crashAtRandom('sync-control-2', 3)()]);
    });
    note(
      `sync-control killed 6 times: right after ${await load.untilRight()} ms; ${refusals(load.refusals)}`,
    );
    expect(load.misshapen).toEqual([]);
    expect(await load.versionsPerWrite()).toBeLessThanOrEqual(2);
  });

  test('secrets: what was acknowledged is there, and arrives outside', async () => {
    const load = await createLoad(system);
    await load.run(crashAtRandom('secrets', 4));
    note(`secrets killed 4 times: right after ${await load.untilRight()} ms; ${refusals(load.refusals)}`);
    expect(load.misshapen).toEqual([]);
  });

  test('the gateway: clients see errors, and nothing is lost', async () => {
    const load = await createLoad(system);
    await load.run(crashAtRandom('gateway', 3));
    note(`gateway killed 3 times: right after ${await load.untilRight()} ms; ${refusals(load.refusals)}`);
    expect(load.refusals.get(0)).toBeGreaterThan(0);
  });
});

const refusals = (counts: Map<number, number>) =>
  `answers that were no success: ${JSON.stringify(Object.fromEntries(counts))}`;
