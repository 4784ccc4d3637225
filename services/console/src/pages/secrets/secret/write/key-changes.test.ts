import { expect, test } from '@jest/globals';
import { keyChanges } from './key-changes.ts';

const base = { version: 3, keys: ['a', 'b', 'toString'], values: undefined, replaces: true };

test('a write is compared key by key, and nothing but names is returned', () => {
  const values = { a: 'canary-1', b: { n: 1 }, toString: 'x' };
  const changes = keyChanges({ ...base, values }, { a: 'canary-2', b: { n: 1 }, c: 'canary-3' });
  expect(changes).toEqual({
    added: ['c'],
    changed: ['a'],
    written: [],
    removed: ['toString'],
    kept: ['b'],
  });
  expect(JSON.stringify(changes)).not.toContain('canary');
});

test('without the values, an existing key is written, whether or not it differs', () => {
  expect(keyChanges(base, { a: 1, c: 1 })).toEqual({
    added: ['c'],
    changed: [],
    written: ['a'],
    removed: ['b', 'toString'],
    kept: [],
  });
});

test('a patch keeps the keys that it does not name, and removes those that are null', () => {
  expect(keyChanges({ ...base, replaces: false }, { a: null, c: 1 })).toEqual({
    added: ['c'],
    changed: [],
    written: [],
    removed: ['a'],
    kept: ['b', 'toString'],
  });
});

test('without the keys, it is not known what a replacement removes', () => {
  const unknown = { ...base, keys: undefined };
  expect(keyChanges(unknown, { a: 1 })).toMatchObject({ written: ['a'], removed: undefined });
  expect(keyChanges({ ...unknown, replaces: false }, { a: 1, b: null })).toMatchObject({
    written: ['a'],
    removed: ['b'],
  });
});
