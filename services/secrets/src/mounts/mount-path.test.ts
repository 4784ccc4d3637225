import { expect, test } from '@jest/globals';
import { mountCandidates, newMountPath } from './mount-path.ts';

test.each(['sys', 'auth/x', 'identity', 'cubbyhole/a/', 'x/tune', '/', 'a//b', 'm'.repeat(257)])(
  'refuses a mount at %j',
  (path) => {
    expect(newMountPath.safeParse(path).success).toBe(false);
  },
);

test('reserves names only as the first segment, and trims slashes at the ends', () => {
  expect(newMountPath.parse('/team/sys/')).toBe('team/sys');
});

test('looks for the mount of a path at each of its folders', () => {
  expect(mountCandidates('a/b/c')).toEqual(['a', 'a/b']);
  expect(mountCandidates('a')).toEqual([]);
});
