import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { client } from '../../scripts/demo/http.ts';
import {
  type Distributed,
  ownServers,
  type ProcessName,
  sandboxOf,
  startDistributed,
} from './distributed.ts';
import { createLoad } from './load.ts';

const servers = await ownServers();
if (typeof servers === 'string') console.warn(`not run: stopping services under load: ${servers}`);

let system: Distributed;
let api: ReturnType<typeof client>;
let sandbox: ReturnType<typeof sandboxOf>;
beforeAll(async () => {
  if (typeof servers === 'string') return;
  system = await startDistributed(servers);
  api = client(system.url, system.rootToken);
  sandbox = sandboxOf(system);
});
afterAll(() => system?.stop());

const soon = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const report: string[] = [];
const note = (line: string) => report.push(line);
afterAll(() => console.log(report.join('\n')));

/** How many calls the store has taken, once a second has gone by without any. */
async function callsAtRest(): Promise<number> {
  for (let before = await sandbox.calls(); ; ) {
    await soon(1_000);
    const now = await sandbox.calls();
    if (now === before) return now;
    before = now;
  }
}

// A process whose stop takes too long ends with 1: 0 says that it ended in time.
const ours: ProcessName[] = [
  'gateway',
  'worker',
  'worker-2',
  'sync-control',
  'sync-control-2',
  'secrets',
  'login',
];

(typeof servers === 'string' ? describe.skip : describe)('faults and orderly stops', () => {
  beforeEach(() => sandbox.clearFaults());
  afterEach(() => {
    for (const process of Object.values(system.processes))
      expect({ name: process.name, unexpectedEnds: process.unexpectedEnds }).toMatchObject({
        unexpectedEnds: 0,
      });
  });

  test('SIGTERM in the middle of slow calls: each ends with 0 in time, and what was under way was finished', async () => {
    const load = await createLoad(system, { rounds: 2 });
    await sandbox.fault({ effect: 'slow', ms: 1_000 });
    await load.run(async () => {
      for (const name of ours) {
        await soon(150);
        const ending = await system.processes[name].stop();
        note(`SIGTERM while busy, ${name}: ${ending.milliseconds} ms`);
        expect({ name, ...ending }).toMatchObject({ code: 0, signal: null });
        await system.processes[name].start();
      }
    });
    await sandbox.clearFaults();
    const took = await load.untilRight();
    note(`every service stopped and started once: right after ${took} ms`);
    expect(await load.versionsPerWrite()).toBeLessThanOrEqual(1.2);
  });

  test('SIGTERM while a destination is silent: the worker ends with 0 in time', async () => {
    const load = await createLoad(system, { secrets: 10, rounds: 1, removed: 0 });
    await sandbox.fault({ effect: 'silence' });
    await load.run();
    await soon(500);
    const endings = await Promise.all([system.processes.worker.stop(), system.processes['worker-2'].stop()]);
    note(`SIGTERM while the destination is silent: ${endings.map(({ milliseconds }) => milliseconds)} ms`);
    for (const ending of endings) expect(ending).toMatchObject({ code: 0 });
    await sandbox.clearFaults();
    await Promise.all([system.processes.worker.start(), system.processes['worker-2'].start()]);
    note(`after silence: right after ${await load.untilRight()} ms`);
  });

  test('SIGTERM while idle: each ends with 0 in time', async () => {
    const endings = await Promise.all(
      ours.map(async (name) => ({ name, ...(await system.processes[name].stop()) })),
    );
    for (const ending of endings) expect(ending).toMatchObject({ code: 0, signal: null });
    note(
      `SIGTERM while idle: ${endings.map(({ name, milliseconds }) => `${name} ${milliseconds}`).join(', ')} ms`,
    );
    await Promise.all(ours.map((name) => system.processes[name].start()));
  });

  test('every external store is away for 10 s', async () => {
    const load = await createLoad(system, { rounds: 2 });
    await load.run(async () => {
      await soon(300);
      await system.processes.sandbox.kill();
      await soon(10_000);
      await system.processes.sandbox.start();
    });
    note(`stores away for 10 s: right after ${await load.untilRight()} ms`);
    expect(load.refusals.size).toBe(0);
    expect(await load.versionsPerWrite()).toBeLessThanOrEqual(1);
  });

  test.each([{ effect: 'silence' }, { effect: 'throttle', retryAfterSeconds: 2 }])(
    'one destination is in trouble ($effect), the other one does not notice',
    async (fault) => {
      const [troubled, other] = [
        await createLoad(system),
        await createLoad(system, { secrets: 30, rounds: 2 }),
      ];
      await sandbox.fault({ ...fault, name: troubled.external('*') });
      await troubled.run();
      const started = Date.now();
      await other.run();
      const took = await other.untilRight();
      note(
        `beside one in trouble (${fault.effect}): load ${Date.now() - started - took} ms, right after ${took} ms`,
      );
      await sandbox.clearFaults();
      note(`trouble over (${fault.effect}): right after ${await troubled.untilRight()} ms`);
    },
  );

  test('the switch is put off under load: soon nobody calls outside any more, and putting it on drains', async () => {
    const load = await createLoad(system, { secrets: 120 });
    let callsWhileOff = -1;
    await load.run(async () => {
      await soon(500);
      await api('PATCH', 'sys/sync/config', { disabled: true });
      const before = await callsAtRest();
      await soon(2_000);
      callsWhileOff = (await sandbox.calls()) - before;
      expect(Object.values(await load.statuses())).toContain('PENDING');
      await api('PATCH', 'sys/sync/config', { disabled: false });
    });
    note(`switched off and on: right after ${await load.untilRight()} ms, ${callsWhileOff} calls while off`);
    expect(callsWhileOff).toBe(0);
  });
});
