import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { bugs } from './bugs.ts';
import { sourceWithBug } from './source-with-bug.ts';

test('each bug is introduced into the copy, and only there', () => {
  for (const bug of bugs) {
    const { folder, remove } = sourceWithBug(bug);
    for (const { file, replacement } of bug.edits) {
      expect(readFileSync(join(folder, file), 'utf8')).toContain(replacement);
      expect(readFileSync(file, 'utf8')).not.toBe(readFileSync(join(folder, file), 'utf8'));
    }
    remove();
    expect(existsSync(folder)).toBe(false);
  }
});

test('a bug whose place is no longer there is refused', () => {
  const edits = [{ file: 'libs/seal/src/sealed.ts', original: 'no such text', replacement: '' }];
  expect(() => sourceWithBug({ ...bugs[0]!, edits })).toThrow('does not have this text exactly once');
});
