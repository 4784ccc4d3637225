import { expect, test } from '@jest/globals';
import { seconds } from './lenient-fields.ts';
import { refuseProtective } from './protective-fields.ts';

test.each<[string | number, number]>([
  ['7200s0ns', 7_200],
  ['0s0ns', 0],
  ['-0s', 0],
  ['+1h', 3_600],
  ['+90', 90],
  ['.5h', 1_800],
  ['1.h', 3_600],
  ['1.15m', 69], // 68.99999999999999 in floating point
  ['100us', 1],
  ['100µs', 1],
  ['100μs', 1],
  ['1500ms', 1],
  ['1h30m10.9s', 5_410],
  ['1d1w', 691_200],
  ['876000h0m0.000000001s', 3_153_600_000],
  [90, 90],
  [0.5, 1],
  ['90.5', 90],
  ['', 0],
  [' 5m ', 300],
])('the duration %j has %i seconds', (given, expected) => {
  expect(seconds.safeParse(given).data).toBe(expected);
});

test.each([
  'h',
  '.h',
  '1',
  '1x',
  '1 h',
  '1h 5m',
  '--1h',
  '1h-5m',
  '1e3',
  '1e3s',
  '0x1s',
  '1hh',
  '876001h',
  '-1s',
  '-5',
])('%j is a duration only if it is a number alone', (given) =>
  expect(seconds.safeParse(given).success).toBe(given === '1'),
);

test('a lifetime that is 0 in any notation asks for nothing', () => {
  expect(() => refuseProtective('ttl', '0h0m0s')).not.toThrow();
  expect(() => refuseProtective('ttl', '0h0m1s')).toThrow('ttl: is not supported here');
});
