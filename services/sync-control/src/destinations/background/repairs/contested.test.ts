import { expect, test } from '@jest/globals';
import { contestedError } from './contested.ts';

const at = (hour: number) => new Date(`2026-11-25T${hour}:02:03.004Z`);

test.each([
  ['none', []],
  ['one', [at(10)]],
])('an external secret is repaired if %s of the last repairs was undone', (_, repairedAt) => {
  expect(contestedError({ repairedAt })).toBeUndefined();
});

test('an external secret whose repairs were undone twice is not repaired, and the error says how often and when', () => {
  expect(contestedError({ repairedAt: [at(10), at(15)] })).toMatch(
    /undone 2 repairs within 24 hours, those of 2026-11-25T10:02:03Z and 2026-11-25T15:02:03Z/,
  );
});
