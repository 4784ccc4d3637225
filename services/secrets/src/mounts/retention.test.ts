import { expect, test } from '@jest/globals';
import { durationText } from './retention.ts';

test.each([
  [0, '0s'],
  [59, '59s'],
  [60, '1m0s'],
  [3_600, '1h0m0s'],
  [12_319, '3h25m19s'],
])('presents %i seconds as %s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});
