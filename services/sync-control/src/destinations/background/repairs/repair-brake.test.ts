import { expect, test } from '@jest/globals';
import { mustHold } from './repair-brake.ts';

const limits = { minEntries: 10, share: 0.2 };

test.each([
  ['50 of 60', 50, 60, false],
  ['51 of 60', 51, 60, true],
  ['51 of 255', 51, 255, false],
  ['51 of 254', 51, 254, true],
])('repairs are held if more than 50 external secrets and more than a fifth have drifted: %s', (...row) => {
  const [, drifted, entries, isHeld] = row;
  expect(mustHold(drifted, entries, limits)).toBe(isHeld);
});

test('limits on removals that are above 50 apply to repairs too, and 100 percent holds none', () => {
  expect(mustHold(99, 100, { minEntries: 100, share: 0.2 })).toBe(false);
  expect(mustHold(100, 100, { minEntries: 10, share: 1 })).toBe(false);
});
