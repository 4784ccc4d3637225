import { expect, test } from '@jest/globals';
import { describeTarget, figure, verdictOf } from './figure.ts';

const peer = { name: 'the loop', measured: 200 };

test('a ratio is that to the peer, and the limit is what the measured value must reach', () => {
  const reached = figure({
    name: 'a',
    measured: 190,
    unit: '1/s',
    peer,
    target: { of: 'ratio', atLeast: 0.95 },
  });
  expect(reached).toMatchObject({ ratio: 0.95, limit: 190, met: true });
  expect(describeTarget(reached)).toBe('≥ 0.95 × the loop');
});

test('a ratio that is given, such as the median of rounds, decides', () => {
  const target = { of: 'ratio', atLeast: 0.95 } as const;
  expect(figure({ name: 'a', measured: 190, unit: '1/s', peer, ratio: 0.94, target }).met).toBe(false);
});

test('an absolute target needs no peer', () => {
  const slow = figure({ name: 'a', measured: 31, unit: 'ms', target: { of: 'measured', atMost: 30 } });
  expect(slow).toMatchObject({ limit: 30, met: false });
  expect(slow.ratio).toBeUndefined();
  expect([describeTarget(slow), verdictOf(slow)]).toEqual(['≤ 30 ms', 'NO']);
});

test('a ratio to nothing does not meet its target', () => {
  const alone = figure({ name: 'a', measured: 1, unit: 'ms', target: { of: 'ratio', atMost: 1.1 } });
  expect(alone.met).toBe(false);
});
