import { expect, test } from '@jest/globals';
import { differencesOf, versionsOf } from './version-state.ts';

test('versions are newest first, and a deletion in the future leaves a version readable', () => {
  const at = (deletion_time: string, destroyed = false) => ({
    created_time: '2026-01-01T00:00:00Z',
    deletion_time,
    destroyed,
  });
  const versions = {
    '1': at('', true),
    '2': at('2026-01-02T00:00:00Z'),
    '10': at('2026-01-04T00:00:00Z'),
    '9': at(''),
  };
  const now = Date.parse('2026-01-03T00:00:00Z');
  expect(
    versionsOf({ versions }, now).map(({ number, state, deletedAt }) => [number, state, deletedAt]),
  ).toEqual([
    [10, 'readable', '2026-01-04T00:00:00Z'],
    [9, 'readable', undefined],
    [2, 'deleted', undefined],
    [1, 'destroyed', undefined],
  ]);
});

test('a comparison says which keys differ, and contains no value', () => {
  const older = { a: 'old', b: 1, c: { d: 1 }, toString: 'x' };
  const newer = { a: 'new', b: 1, c: { d: 1 }, e: null };
  expect(differencesOf(older, newer)).toEqual({
    a: 'changed',
    b: 'same',
    c: 'same',
    toString: 'removed',
    e: 'added',
  });
});
