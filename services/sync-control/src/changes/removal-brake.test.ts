import { expect, test } from '@jest/globals';
import { needsConfirmation } from './removal-brake.ts';

const limits = { minEntries: 50, share: 0.2 };

test.each([
  [49, 49, false, 'fewer entries than the minimum never need one'],
  [50, 50, true, 'everything needs one'],
  [50, 250, false, 'exactly the share does not need one'],
  [51, 250, true, 'more than the share needs one'],
])('%i of %i entries: confirmation needed is %s: %s', (removals, entries, isNeeded) => {
  expect(needsConfirmation(removals, entries, limits)).toBe(isNeeded);
});
