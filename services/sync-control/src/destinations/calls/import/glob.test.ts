import { expect, test } from '@jest/globals';
import { parseGlob } from './glob.ts';

test.each([
  ['*', 'a/b', true],
  ['', 'a', false],
  ['prod/*', 'prod/db', true],
  ['prod/*', 'prod', false],
  ['*-db', 'a-db-x-db', true],
  ['*-db', 'a-db-x', false],
  ['a?c', 'abc', true],
  ['a?c', 'ac', false],
  ['a?c', 'a😀c', true],
  ['a.c', 'abc', false],
  ['a\\*', 'a*', true],
  ['a\\*', 'ab', false],
  ['*a*b*c*', 'xxaxxbxxc', true],
  ['*a*b*c*', 'xxcxxbxxa', false],
])('%j matches %j: %s', (pattern, name, isMatch) => {
  expect(parseGlob(pattern)(name)).toBe(isMatch);
});

test('a pattern that ends in a backslash is refused', () => {
  expect(() => parseGlob('a\\')).toThrow('match: nothing follows the backslash at the end');
});

test('a pattern with many wildcards is matched within the product of the lengths', () => {
  const startedAtMs = performance.now();
  expect(parseGlob(`${'*a'.repeat(100)}b`)('a'.repeat(2_000))).toBe(false);
  expect(performance.now() - startedAtMs).toBeLessThan(1_000);
});
