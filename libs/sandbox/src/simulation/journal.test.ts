import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Entry, Journal } from './journal.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  file = join(folder, 'deep', 'journal.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A state of one number per owner, the simplest that a journal can keep. */
function open() {
  const state = new Map<string, object>();
  const replayed: Entry[] = [];
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
  const keep = (of: string, record: object) => {
    state.set(of, record);
    journal.keep({ of, record });
  };
  return { journal, keep, state, replayed };
}

test('gives back what was kept, compacted', () => {
  const first = open();
  for (let n = 0; n < 100; n += 1) first.keep('one', { n, text: 'é\n' });
  first.keep('two', { n: 1 });
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

test('leaves out a torn last line, and goes on after it', () => {
  const first = open();
  first.keep('one', { n: 1 });
  first.journal.close();
  appendFileSync(file, '{"of":"one","record":{"n":');
  const second = open();
  expect(second.state.get('one')).toEqual({ n: 1 });
  second.keep('one', { n: 2 });
  second.journal.close();
  const third = open();
  expect(third.state.get('one')).toEqual({ n: 2 });
  third.journal.close();
});

test('is readable by its owner alone, and compacts while it grows', () => {
  const { journal, keep } = open();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const text = 'x'.repeat(8 * 1024 * 1024);
  for (let n = 0; n < 9; n += 1) keep('one', { n, text });
  expect(statSync(file).size).toBeLessThan(20 * 1024 * 1024);
  journal.close();
});

test('stops at a line in the middle that is no record', () => {
  open().journal.close();
  writeFileSync(file, 'nonsense\n{"of":"one","record":{"n":1}}\n');
  expect(open).toThrow(/JSON/);
});
