import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  beginningsOf,
  literalBeginning,
  matchesPattern,
  matchesRule,
  parsePattern,
  rulePattern,
  whyNoPattern,
} from './rule-pattern.ts';

test.each([
  ['*', 'a', true],
  ['*', 'a/b/c', true],
  ['a', 'a', true],
  ['a', 'a/b', false],
  ['a*', 'ab/c', true],
  ['a*', 'a', true],
  ['a*', 'b/a', false],
  ['a/*', 'a/b/c', true],
  ['a/*', 'a', false],
  ['a/*', 'ab/c', false],
  ['+', 'a', true],
  ['+', 'a/b', false],
  ['+/db', 'a/db', true],
  ['+/db', 'a/b/db', false],
  ['a/+/c', 'a/b/c', true],
  ['a/+/c', 'a/b/d', false],
  ['a/+/c*', 'a/b/cd/e', true],
  ['+/*', 'a/b', true],
  ['+/*', 'a', false],
])('%s and %s: %s', (pattern, path, expected) => {
  expect(whyNoPattern(pattern)).toBeUndefined();
  expect(matchesPattern(parsePattern(pattern), path)).toBe(expected);
});

test.each([
  ['', /empty/],
  ['a*b', /only at its end/],
  ['**', /only at its end/],
  ['a+/b', /whole segment/],
  ['/a', /slash/],
  ['a/', /slash/],
  ['a//b', /slash/],
  ['a//*', /slash/],
  ['a'.repeat(513), /512 bytes/],
  ['a\u0000', /control characters/],
])('%s is no pattern', (pattern, reason) => {
  expect(whyNoPattern(pattern)).toMatch(reason);
});

test.each([
  ['*', ''],
  ['a*', ''],
  ['a', 'a'],
  ['a/b*', 'a'],
  ['a/b/*', 'a/b'],
  ['a/+/c', 'a'],
  ['+/a', ''],
])('the literal beginning of %s is %j', (pattern, expected) => {
  expect(literalBeginning(parsePattern(pattern))).toBe(expected);
});

const segment = fc.constantFrom('a', 'b', 'ab', 'é');
const pathOf = (one: fc.Arbitrary<string>) =>
  fc.array(one, { minLength: 1, maxLength: 4 }).map((all) => all.join('/'));
const pattern = fc
  .tuple(pathOf(fc.oneof(segment, fc.constant('+'))), fc.constantFrom('', '/*', '*'))
  .map(([written, end]) => written + end)
  .filter((text) => whyNoPattern(text) === undefined);

test('what the description of the API permits is a pattern, and the other way round', () => {
  const described = new RegExp(rulePattern.pattern, 'u');
  const text = fc.string({ unit: fc.constantFrom('a', '/', '+', '*', '\u0000'), maxLength: 6 });
  fc.assert(
    fc.property(text, (one) => {
      expect([one, whyNoPattern(one) === undefined]).toEqual([one, described.test(one)]);
    }),
    { numRuns: 5_000 },
  );
});

test('the beginning of a pattern is among those of each path that it matches', () => {
  fc.assert(
    fc.property(pattern, pathOf(segment), (text, path) => {
      const parsed = parsePattern(text);
      if (matchesPattern(parsed, path)) expect(beginningsOf(path)).toContain(literalBeginning(parsed));
    }),
    { numRuns: 5_000 },
  );
});

test('beginnings are as few as the segments, and none is longer than a pattern', () => {
  expect(beginningsOf('a/b/c')).toEqual(['', 'a', 'a/b', 'a/b/c']);
  expect(beginningsOf(`${'x'.repeat(600)}/y`)).toEqual(['']);
});

test('excluded paths and other metadata do not match', () => {
  const rule = { path: 'a/*', exclude: ['a/+/tmp'], metadataMatch: { sync: 'prod' } };
  const matches = (path: string, customMetadata: Record<string, string> | null) =>
    matchesRule(rule, { path, customMetadata });
  expect(matches('a/b', { sync: 'prod', more: 'x' })).toBe(true);
  expect(matches('a/b', { sync: 'test' })).toBe(false);
  expect(matches('a/b', null)).toBe(false);
  expect(matches('a/b/tmp', { sync: 'prod' })).toBe(false);
  const odd = { path: '*', exclude: [], metadataMatch: { constructor: 'x' } };
  expect(matchesRule(odd, { path: 'a', customMetadata: {} })).toBe(false);
});
