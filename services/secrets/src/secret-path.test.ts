import { describe, expect, test } from '@jest/globals';
import { checkMountPath, mountCandidates } from './mount-path.ts';
import { checkFolder, checkPath } from './secret-path.ts';

describe('a path', () => {
  test.each(['', '/a', 'a/', 'a//b', 'a/../b', '.', 'a/./b', 'a\0', 'a\u007f', '\ud800', '\u{10FFFF}'])(
    '%j is refused',
    (path) => {
      expect(() => checkPath(path)).toThrow('path: must');
    },
  );

  test.each(['a', 'a/b c', '..a/b..', 'ä/😀', "a'b", 'x'.repeat(2_048)])('%j passes', (path) => {
    expect(checkPath(path)).toBe(path);
  });

  test('a folder may end with a slash, and the top is empty', () => {
    expect(['', '/', 'a', 'a/'].map(checkFolder)).toEqual(['', '', 'a', 'a']);
  });
});

test('a mount path must not take what belongs to others', () => {
  for (const path of ['sys', 'auth/x', 'identity', 'cubbyhole/a/', 'x/tune', '/', 'm'.repeat(257)])
    expect(() => checkMountPath(path)).toThrow('path:');
  expect(checkMountPath('/team/sys/')).toBe('team/sys');
});

test('the candidates of a path are its folders', () => {
  expect(mountCandidates('a/b/c')).toEqual(['a', 'a/b']);
  expect(mountCandidates('a')).toEqual([]);
});
