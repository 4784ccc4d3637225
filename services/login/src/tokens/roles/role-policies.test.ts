import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { matchesGlob } from './role-policies.ts';

test.each([
  ['a', 'a', true],
  ['a', 'ab', false],
  ['a*', 'a', true],
  ['*a', 'ba', true],
  ['a*a', 'a', false],
  ['a*b*c', 'a-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['*', '', true],
  ['a.c', 'abc', false],
])('whether %s matches %s: %s', (glob, name, expected) => {
  expect(matchesGlob(glob, name)).toBe(expected);
});

test('patterns match what the equivalent regular expression matches', () => {
  const text = (characters: string) => fc.string({ unit: fc.constantFrom(...characters), maxLength: 8 });
  fc.assert(
    fc.property(text('ab*'), text('ab'), (glob, name) => {
      expect(matchesGlob(glob, name)).toBe(new RegExp(`^${glob.replaceAll('*', '.*')}$`).test(name));
    }),
  );
});

test('a pattern with many wildcards takes no longer than others', () => {
  const started = performance.now();
  expect(matchesGlob('a*'.repeat(1_000), 'a'.repeat(900))).toBe(false);
  expect(performance.now() - started).toBeLessThan(2_000);
});
