import { expect, test } from '@jest/globals';
import { costOfDeletion, type Left } from './revocation-report.ts';

const observed = (...tokens: number[]): Left[] =>
  tokens.map((each, at) => ({ at: at * 1_000, tokens: each }));

test('a deletion of constant speed costs the same at both ends, whenever it began and ended between two observations', () => {
  const left = observed(
    10_000,
    10_000,
    9_900,
    8_900,
    7_900,
    6_900,
    5_900,
    4_900,
    3_900,
    2_900,
    1_900,
    900,
    0,
  );
  expect(costOfDeletion(left)).toEqual({ many: 1_000, few: 1_000 });
});

test('its cost is interpolated where observations are far apart', () => {
  expect(costOfDeletion(observed(7_000, 6_000, 4_000, 2_000, 1_000, 0))).toEqual({ many: 500, few: 1_000 });
});

test('a deletion that was not seen in progress has no cost', () => {
  expect(() => costOfDeletion(observed(1_000, 0))).toThrow('too fast');
});
