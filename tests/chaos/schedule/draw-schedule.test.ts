import { expect, test } from '@jest/globals';
import { drawSchedule, type Targets } from './draw-schedule.ts';
import { targetOf } from './fault.ts';

const targets: Targets = {
  upstreams: {
    gateway: ['postgres', 'services'],
    'gateway-2': ['postgres', 'services'],
    worker: ['postgres', 'rabbit', 'stores'],
  },
  gateways: ['gateway', 'gateway-2'],
  stores: ['cloudA-sm', 'codehost'],
};
const schedule = (seed: number, count = 500) => drawSchedule({ seed, count, everyMs: 2_000 }, targets);

test('a seed has one schedule, and other seeds have others', () => {
  expect(schedule(7)).toEqual(schedule(7));
  expect(schedule(7)).not.toEqual(schedule(8));
});

test('faults come in order, on average as far apart as asked, and overlap at times', () => {
  const faults = schedule(1);
  const times = faults.map(({ atMs }) => atMs);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(times.at(-1)! / faults.length).toBeGreaterThan(1_700);
  expect(times.at(-1)! / faults.length).toBeLessThan(2_300);
  expect(faults.some(({ atMs, fault }, at) => atMs + fault.ms > (times[at + 1] ?? Infinity))).toBe(true);
});

test('every kind of fault occurs, and connections are disturbed only where a process has them', () => {
  const faults = schedule(3).map(({ fault }) => fault);
  expect(new Set(faults.map(({ kind }) => kind))).toEqual(
    new Set(['kill', 'stop', 'cut', 'freeze', 'delay', 'server', 'disk', 'clock', 'store', 'host']),
  );
  for (const fault of faults)
    if (fault.kind === 'cut' || fault.kind === 'freeze' || fault.kind === 'delay')
      expect(targets.upstreams[fault.process]).toContain(fault.to);
});

test('some processes are stopped for longer than a lease of 5 s', () => {
  expect(schedule(1).some(({ fault }) => fault.kind === 'stop' && fault.ms > 5_000)).toBe(true);
});

test('a fault is described by what it concerns', () => {
  expect(targetOf({ kind: 'cut', process: 'worker', to: 'rabbit', ms: 1 })).toBe('worker to rabbit');
  expect(targetOf({ kind: 'server', server: 'postgres', ms: 1, slowedBy: 0 })).toBe('postgres');
});
