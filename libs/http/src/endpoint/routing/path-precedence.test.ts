import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { byPrecedence } from './path-precedence.ts';

test.each([
  ['/sys/sync/associations/destinations', '/sys/sync/associations/*path'],
  ['/sys/mounts/*path/tune', '/sys/mounts/*path'],
  ['/auth/*mount/role/:name', '/auth/*mount/config'],
  ['/auth/token/create', '/auth/*mount/login'],
  ['/things/:name', '/things/*path'],
  ['/sys/mounts', '/*path'],
])('%s precedes %s', (specific, general) => {
  expect([general, specific].sort(byPrecedence)).toEqual([specific, general]);
});

test('is a consistent order: antisymmetric and transitive', () => {
  const segment = fc.constantFrom('a', 'b', ':x', '*y');
  const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => `/${segments.join('/')}`);
  fc.assert(
    fc.property(path, path, path, (a, b, c) => {
      expect(Math.sign(byPrecedence(a, b))).toBe(-Math.sign(byPrecedence(b, a)) || 0);
      if (byPrecedence(a, b) <= 0 && byPrecedence(b, c) <= 0)
        expect(byPrecedence(a, c)).toBeLessThanOrEqual(0);
    }),
  );
});
