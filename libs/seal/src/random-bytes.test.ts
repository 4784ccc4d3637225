import { expect, test } from '@jest/globals';
import { pooledRandomBytes } from './random-bytes.ts';

test('random bytes have the length that was asked for, and never occur twice', () => {
  const counts = Array.from({ length: 1_000 }, (_, at) => 16 + (at % 50)).concat(4_096, 4_097, 16);
  const all = counts.map(pooledRandomBytes);
  expect(all.map(({ length }) => length)).toEqual(counts);
  expect(new Set(all.map((bytes) => bytes.toString('hex', 0, 16))).size).toBe(counts.length);
});

test('random bytes are those of one call only', () => {
  const [first, second] = [pooledRandomBytes(32), pooledRandomBytes(32)];
  const before = second.toString('hex');
  first.fill(0);
  expect(second.toString('hex')).toBe(before);
});
