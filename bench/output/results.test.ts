import { expect, test } from '@jest/globals';
import type { BenchmarkName } from './abouts.ts';
import { mergeResults, type Result } from './results.ts';

const result = (benchmark: BenchmarkName, title: string, date: string): Result => ({
  benchmark,
  title,
  date,
  machine: '2 cores',
  versions: 'Node',
  columns: [],
  rows: [],
  notes: [],
  figures: [],
});

test('a new result replaces the one of the same title, and others stay, in the order of the benchmarks', () => {
  const older = [result('kv', 'Reads', 'monday'), result('login', 'Logins', 'monday')];
  const newer = [result('login', 'Logins', 'tuesday'), result('peer', 'OpenBao', 'tuesday')];
  const merged = mergeResults(older, newer);
  expect(merged.map(({ title, date }) => `${title} ${date}`)).toEqual([
    'OpenBao tuesday',
    'Reads monday',
    'Logins tuesday',
  ]);
});
