import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { bugs } from './bugs.ts';
import { sourceWithBug, textsWithBug } from './source-with-bug.ts';

test.each(bugs)('the places of $name are in the source, each exactly once', (bug) => {
  const texts = textsWithBug(bug);
  for (const { file, replacement } of bug.edits) expect(texts.get(file)).toContain(replacement);
  for (const [file, text] of texts) expect(text).not.toBe(readFileSync(file, 'utf8'));
});

test('a bug is introduced into the copy, and only there', () => {
  const bug = bugs.find(({ edits }) => new Set(edits.map(({ file }) => file)).size > 1)!;
  const before = [...textsWithBug(bug).keys()].map((file) => readFileSync(file, 'utf8'));
  const { folder, remove } = sourceWithBug(bug);
  for (const [file, text] of textsWithBug(bug)) expect(readFileSync(join(folder, file), 'utf8')).toBe(text);
  expect([...textsWithBug(bug).keys()].map((file) => readFileSync(file, 'utf8'))).toEqual(before);
  remove();
  expect(existsSync(folder)).toBe(false);
});

test('a bug whose place is no longer there is refused', () => {
  const edits = [{ file: 'libs/seal/src/sealed.ts', original: 'no such text', replacement: '' }];
  expect(() => sourceWithBug({ ...bugs[0]!, edits })).toThrow('does not have this text exactly once');
});
