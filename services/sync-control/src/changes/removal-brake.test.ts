import { expect, test } from '@jest/globals';
import { needsConfirmation } from './removal-brake.ts';

const limits = { minEntries: 10, share: 0.2 };

test.each([
  [2, 2, false, 'two are never held'],
  [3, 3, true, 'everything is held from three on'],
  [9, 9, true, 'everything is held'],
  [9, 10, false, 'fewer than the minimum are not held if one stays'],
  [10, 49, true, 'more than the share is held'],
  [10, 50, false, 'exactly the share is not held'],
])('%i of %i entries: confirmation needed is %s: %s', (removals, entries, isNeeded) => {
  expect(needsConfirmation(removals, entries, limits)).toBe(isNeeded);
});

test('a share of 1 holds nothing', () => {
  expect(needsConfirmation(50, 50, { minEntries: 10, share: 1 })).toBe(false);
});
