import { expect, test } from '@jest/globals';
import { growingPauseMs, sleep } from './pause.ts';

test('a growing pause doubles up to its most, less a random part up to a half', () => {
  const range = { firstMs: 100, mostMs: 5_000 };
  expect([0, 1, 2, 6, 1_000].map((failures) => growingPauseMs(failures, range, 0))).toEqual([
    100, 200, 400, 5_000, 5_000,
  ]);
  expect(growingPauseMs(1, range, 1)).toBe(100);
});

test('a sleep ends early when its signal aborts, before or during it', async () => {
  const asked = Date.now();
  await sleep(5_000, AbortSignal.abort());
  await sleep(5_000, AbortSignal.timeout(10));
  expect(Date.now() - asked).toBeLessThan(1_000);
});
