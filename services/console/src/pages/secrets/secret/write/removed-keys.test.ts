import { expect, test } from '@jest/globals';
import { mergeChanges, removedKeys } from './removed-keys.ts';

test('a replacement removes the keys that it lacks, and a patch those that are null', () => {
  const keys = ['a', 'b', 'toString'];
  expect(removedKeys({ keys, replaces: true }, { a: null, c: 1 })).toEqual(['b', 'toString']);
  expect(removedKeys({ keys, replaces: false }, { a: null, b: 1, c: null })).toEqual(['a']);
});

test('where the keys are not known, a replacement removes unknown ones, and a patch those that are null', () => {
  expect(removedKeys({ keys: undefined, replaces: true }, { a: 1 })).toBeUndefined();
  expect(removedKeys({ keys: undefined, replaces: false }, { a: null, b: 1 })).toEqual(['a']);
});

test('changes of two writers are merged, and mine are kept where both have changed a key', () => {
  const base = { a: 1, b: 1, c: 1, d: 1, e: 1 };
  const mine = { a: 2, b: 1, d: 2, e: 2, f: 1 };
  const theirs = { a: 1, b: 2, c: 2, d: 3, e: 2, g: 1 };
  expect(mergeChanges(base, mine, theirs)).toEqual({
    merged: { a: 2, b: 2, d: 2, e: 2, f: 1, g: 1 },
    contested: ['c', 'd'],
  });
});
