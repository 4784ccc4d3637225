import { expect, test } from '@jest/globals';
import { divideByNames, type NamedEntries } from './free-names.ts';

const secret = (secretName: string, ...names: string[]): NamedEntries => ({
  secretName,
  entries: names.map((externalName) => ({
    subKey: externalName,
    externalName,
    collisionKey: externalName.toLowerCase(),
  })),
});
const held = { externalName: 'Taken', mount: 'other', secretName: 'x', subKey: '' };

const divide = (...secrets: NamedEntries[]) => {
  const { free, refused } = divideByNames('kv', secrets, new Map([['taken', held]]));
  return {
    free: free.map(({ secretName }) => secretName),
    refused: Object.fromEntries(
      [...refused].map(([name, { kind, message }]) => [name, `${kind}: ${message}`]),
    ),
  };
};

test('a name that is taken in the destination refuses its secret alone', () => {
  expect(divide(secret('a', 'one', 'taken'), secret('b', 'two'))).toEqual({
    free: ['b'],
    refused: {
      a: 'conflict: the external name taken is taken in this destination by other/x, as Taken',
    },
  });
});

test('the first of two secrets with one name has it, also if they are spelt differently', () => {
  expect(divide(secret('a', 'Same'), secret('b', 'same'), secret('c', 'other'))).toEqual({
    free: ['a', 'c'],
    refused: {
      b: 'conflict: the external name same is taken in this destination by kv/a (key Same), as Same',
    },
  });
});

test('a refused secret takes no name from the others', () => {
  expect(divide(secret('a', 'one', 'taken'), secret('b', 'one')).free).toEqual(['b']);
});
