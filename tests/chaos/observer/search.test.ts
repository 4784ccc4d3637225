import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { filesContaining, spellingsOf } from './search.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'search-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test.each([
  ['as it is', 'x canary-123456 x'],
  ['in hex', Buffer.from('?canary-123456').toString('hex')],
  ...[0, 1, 2].map((n) => [
    `in base64, after ${n} bytes`,
    Buffer.from(`${'?'.repeat(n)}canary-123456 and more`).toString('base64'),
  ]),
])('a text is found in a file below the folder: %s', (_, text) => {
  mkdirSync(join(folder, 'below'));
  writeFileSync(join(folder, 'below', 'a.log'), text!);
  writeFileSync(join(folder, 'b.log'), 'nothing');
  const found = filesContaining(folder, spellingsOf('canary-123456'));
  expect(found).toEqual([join(folder, 'below', 'a.log')]);
});

test('skipped files are not searched', () => {
  writeFileSync(join(folder, 'root-token'), 'canary');
  expect(filesContaining(folder, spellingsOf('canary'), (name) => name === 'root-token')).toEqual([]);
});
