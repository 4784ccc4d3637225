import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bindsNothing, matchesGlob } from './glob.ts';

test.each([
  ['repo:acme/*:ref:refs/heads/main', 'repo:acme/shop:ref:refs/heads/main', true],
  ['repo:acme/*', 'repo:acme/shop', true],
  ['repo:acme/*', 'repo:acme-evil/x', false],
  ['repo:acme/*', 'repo:acme/shop:ref:refs/heads/main', false],
  ['repo:acme/*:ref:refs/heads/main', 'repo:acme/a:environment:b:ref:refs/heads/main', false],
  ['repo:acme/shop:ref:refs/heads/*', 'repo:acme/shop:ref:refs/heads/a/b', false],
  ['repo:acme*', 'repo:acme-evil', true],
  ['*@example.com', 'a.b@example.com', true],
  ['*@example.com', 'a@evil.com@example.com', false],
  ['*@example.com', 'a@example.com.evil.com', false],
  ['a*b*c', 'a1b2c', true],
  ['a*b*c', 'ac', false],
  ['a*a', 'a', false],
  ['**', 'a', true],
  ['*', '', true],
  ['a', 'a', true],
  ['a', 'ab', false],
  ['a', 'A', false],
  ['a.c', 'abc', false],
  ['a\n*', 'a\nb', true],
  ['a*', 'a\nb', false],
  ['a*', 'a b', false],
])('%j on %j: %s', (pattern, value, outcome) => {
  expect(matchesGlob(pattern, value)).toBe(outcome);
});

test('agrees with a regular expression whose star excludes separators', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '*', '/', ':'), maxLength: 12 });
  fc.assert(
    fc.property(text, text, (pattern, value) => {
      const expression = pattern.replace(/[.*+?^${}()|[\]\\]/g, (one) =>
        one === '*' ? '[^/:]*' : `\\${one}`,
      );
      expect(matchesGlob(pattern, value)).toBe(new RegExp(`^${expression}$`).test(value));
    }),
    { numRuns: 2_000 },
  );
});

test('long patterns are compared quickly', () => {
  const start = performance.now();
  expect(matchesGlob('a*'.repeat(256), `${'a'.repeat(4_000)}b`)).toBe(true);
  expect(matchesGlob(`${'a*'.repeat(256)}c`, `${'a'.repeat(4_000)}b`)).toBe(false);
  expect(performance.now() - start).toBeLessThan(500);
});

test.each([
  ['*', true],
  ['**', true],
  ['*:*/*', true],
  ['', true],
  ['a*', false],
  ['*@example.com', false],
])('%j binds nothing: %s', (pattern, outcome) => {
  expect(bindsNothing(pattern)).toBe(outcome);
});
