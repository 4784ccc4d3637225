import { expect, test } from '@jest/globals';
import { backoffMs, requeueBackoffMs, sleepUntilAborted } from './pause.ts';

test('a backoff doubles up to its maximum, minus a random part of at most a half', () => {
  const range = { firstMs: 100, maxMs: 5_000 };
  expect([0, 1, 2, 6, 1_000].map((failures) => backoffMs(failures, range, 0))).toEqual([
    100, 200, 400, 5_000, 5_000,
  ]);
  expect(backoffMs(1, range, 1)).toBe(100);
});

test('a sleep ends when its signal aborts, before or during it', async () => {
  const anHour = 3_600_000;
  await sleepUntilAborted(anHour, AbortSignal.abort());
  await sleepUntilAborted(anHour, AbortSignal.timeout(10));
});

test('a requeued message waits longer each time, for minutes in total', () => {
  const pauses = Array.from({ length: 19 }, (_, index) => requeueBackoffMs(500, index + 1));
  expect(pauses.slice(0, 4)).toEqual([500, 1_000, 2_000, 4_000]);
  expect(Math.max(...pauses)).toBe(8_000);
  expect(pauses.reduce((sum, pause) => sum + pause, 0)).toBeGreaterThan(110_000);
});
