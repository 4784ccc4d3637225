import { expect, test } from '@jest/globals';
import { KnownFailures } from './known-failures.ts';

test('a failure is new once per hour, destination and cause', () => {
  let nowMs = 0;
  const failures = new KnownFailures(() => nowMs);
  expect(failures.isNew('a', 'forbidden')).toBe(true);
  nowMs = 3_599_999;
  expect(failures.isNew('a', 'forbidden')).toBe(false);
  expect(failures.isNew('a', 'unavailable')).toBe(true);
  expect(failures.isNew('b', 'forbidden')).toBe(true);
  nowMs = 3_600_000;
  expect(failures.isNew('a', 'forbidden')).toBe(true);
  expect(failures.isNew('a', 'forbidden')).toBe(false);
});

test('of more than 10,000 failures, the first is forgotten', () => {
  const failures = new KnownFailures(() => 0);
  for (let number = 0; number <= 10_000; number += 1) failures.isNew(String(number), 'forbidden');
  expect(failures.isNew('1', 'forbidden')).toBe(false);
  expect(failures.isNew('0', 'forbidden')).toBe(true);
});
