import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Journal, type JournalEntry } from './journal.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  file = join(folder, 'deep', 'journal.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Opens a journal whose state is one record per key. */
function open() {
  const state = new Map<string, object>();
  const replayed: JournalEntry[] = [];
  const journal = Journal.open(
    file,
    (entry) => {
      replayed.push(entry);
      state.set(entry.of, entry.record);
    },
    function* () {
      for (const [of, record] of state) yield { of, record };
    },
  );
  const append = (of: string, record: object) => {
    state.set(of, record);
    journal.append({ of, record });
  };
  return { journal, append, state, replayed };
}

test('replays every record, then compacts the file', () => {
  const first = open();
  for (let n = 0; n < 100; n += 1) first.append('one', { n, text: 'é\n' });
  first.append('two', { n: 1 });
  first.journal.close();
  const second = open();
  expect(second.replayed).toHaveLength(101);
  expect([...second.state]).toEqual([
    ['one', { n: 99, text: 'é\n' }],
    ['two', { n: 1 }],
  ]);
  second.journal.close();
  expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(2);
});

test('ignores an incomplete last line and appends after it', () => {
  const first = open();
  first.append('one', { n: 1 });
  first.journal.close();
  appendFileSync(file, '{"of":"one","record":{"n":');
  const second = open();
  expect(second.state.get('one')).toEqual({ n: 1 });
  second.append('one', { n: 2 });
  second.journal.close();
  const third = open();
  expect(third.state.get('one')).toEqual({ n: 2 });
  third.journal.close();
});

test('the file is readable only by its owner, and is compacted as it grows', () => {
  const { journal, append } = open();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const text = 'x'.repeat(8 * 1024 * 1024);
  for (let n = 0; n < 9; n += 1) append('one', { n, text });
  expect(statSync(file).size).toBeLessThan(20 * 1024 * 1024);
  journal.close();
});

test('rejects a file with an invalid line before the last one', () => {
  open().journal.close();
  writeFileSync(file, 'nonsense\n{"of":"one","record":{"n":1}}\n');
  expect(open).toThrow(/JSON/);
});
