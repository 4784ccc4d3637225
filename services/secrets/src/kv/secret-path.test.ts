import { expect, test } from '@jest/globals';
import { folderPath, secretPath } from './secret-path.ts';

test.each(['', '/a', 'a/', 'a//b', 'a/../b', '.', 'a/./b', 'a\0', 'a\u007f', '\ud800', '\u{10FFFF}'])(
  'refuses %j as the path of a secret',
  (path) => {
    expect(secretPath.safeParse(path).error?.issues).toEqual([
      expect.objectContaining({ message: expect.stringMatching(/^must /) }),
    ]);
  },
);

test.each(['a', 'a/b c', '..a/b..', 'ä/😀', "a'b", 'x'.repeat(2_048)])(
  'accepts %j as the path of a secret',
  (path) => {
    expect(secretPath.parse(path)).toBe(path);
  },
);

test('drops the slash at the end of a folder; the top is empty', () => {
  expect(['', '/', 'a', 'a/'].map((path) => folderPath.parse(path))).toEqual(['', '', 'a', 'a']);
  expect(folderPath.safeParse('a//').success).toBe(false);
});
