import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decodePath, encodePath, namespacePath, pathFromNamespace } from './request-path.ts';

test.each([
  ['kv/data/a', 'kv/data/a'],
  ['kv/metadata/', 'kv/metadata'],
  ['kv/data/a%2Fb', 'kv/data/a/b'],
  ['kv/data/a%252Fb', 'kv/data/a%2Fb'],
  ['kv/data/%C3%A9t%C3%A9', 'kv/data/été'],
  ['kv/data/a..b/...', 'kv/data/a..b/...'],
  ['kv/data/A%20b', 'kv/data/A b'],
])('decodes %s to %s', (encoded, path) => expect(decodePath(encoded)).toBe(path));

test.each([
  '',
  '/',
  'kv//a',
  '/kv',
  'kv/a//',
  'kv/../sys',
  'kv/%2e%2e/sys',
  'kv/.%2E/sys',
  'kv/%2E/a',
  '..',
  '.',
  'kv/a/..',
  'kv/a%2F%2Fb',
  'kv/a%2F..%2Fb',
  'kv%2F..',
  'kv\\a',
  'kv/%5Ca',
  'kv/%00',
  'kv/a%0Ab',
  'kv/%7F',
  'kv/%',
  'kv/%zz',
  'kv/%C3',
  'kv/é',
  'kv/a b',
])('refuses %j', (encoded) => {
  expect(() => decodePath(encoded)).toThrow(/path/);
});

test('an encoded path decodes, segment by segment, to the path that was evaluated', () => {
  const encodedParts = fc.array(
    fc.oneof(
      fc.constantFrom('a', '/', '.', '%2F', '%2e', '%25', '%5c', '+', '*', '%20', '~', "'"),
      fc.string({ maxLength: 2 }),
    ),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(encodedParts, (parts) => {
      let path: string;
      try {
        path = decodePath(parts.join(''));
      } catch {
        return;
      }
      const forwarded = encodePath(path);
      expect(forwarded).toMatch(/^[\x21-\x7e]+$/);
      expect(forwarded.split('/').map(decodeURIComponent).join('/')).toBe(path);
      expect(decodePath(forwarded)).toBe(path);
      expect(new URL(`http://x/v1/${forwarded}`).pathname).toBe(`/v1/${forwarded}`);
    }),
    { numRuns: 2_000 },
  );
});

test('a namespace path has no slashes at its ends, and `root` is the empty path', () => {
  expect([undefined, '', '/', 'root', 'root/'].map(namespacePath)).toEqual(['', '', '', '', '']);
  expect(['team', 'team/', '/team/a/'].map(namespacePath)).toEqual(['team', 'team', 'team/a']);
});

test('a namespace path with forbidden segments or characters is refused', () => {
  for (const path of ['a//b', '../a', 'a\\b', 'a/../b'])
    expect(() => namespacePath(path)).toThrow(/X-Service-Namespace must not/);
});

test('a path is made relative to the namespace of the token, if the request is in it or below', () => {
  expect(pathFromNamespace('', '', 'kv/a')).toBe('kv/a');
  expect(pathFromNamespace('', 'team/x', 'kv/a')).toBe('team/x/kv/a');
  expect(pathFromNamespace('team', 'team/x', 'kv/a')).toBe('x/kv/a');
  expect(pathFromNamespace('team', 'team', 'kv/a')).toBe('kv/a');
  expect(pathFromNamespace('team', 'teamwork', 'kv/a')).toBeUndefined();
  expect(pathFromNamespace('team/x', 'team', 'kv/a')).toBeUndefined();
  expect(pathFromNamespace('team', '', 'kv/a')).toBeUndefined();
});
