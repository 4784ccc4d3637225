import { beforeEach, expect, test } from '@jest/globals';
import { recentTotals } from './recent-totals.ts';

let time: number;
let stored: number;
let counts: number;
let totalOf: (namespaceId: string) => Promise<number>;

beforeEach(() => {
  [time, stored, counts] = [0, 1_000, 0];
  const count = async () => {
    counts += 1;
    return stored;
  };
  totalOf = recentTotals(
    count,
    (total) => total >= 1_000,
    () => time,
  );
});

test('a large total is counted once a second', async () => {
  await totalOf('root');
  stored = 2_000;
  time = 999;
  expect(await totalOf('root')).toBe(1_000);
  time = 1_000;
  expect(await totalOf('root')).toBe(2_000);
});

test('a small total is counted each time', async () => {
  stored = 999;
  await totalOf('root');
  stored = 998;
  expect(await totalOf('root')).toBe(998);
});

test('each namespace has a total of its own', async () => {
  await totalOf('root');
  await totalOf('other');
  expect(counts).toBe(2);
});
