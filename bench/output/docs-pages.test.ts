import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { abouts, type BenchmarkName } from './abouts.ts';
import { pagesOf, summaryOf } from './docs-pages.ts';
import { figure } from './figure.ts';
import { type Result, readResults } from './results.ts';
import { docsOf, figuresOfDocs } from './write-results.ts';

const loop = { name: 'the loop', measured: 100 };
const result = (benchmark: BenchmarkName, title: string, notes: string[]): Result => ({
  benchmark,
  title,
  date: 'Monday',
  machine: '2 cores',
  versions: 'Node',
  columns: ['', 'value'],
  rows: [['a row', '1']],
  notes,
  figures: [
    figure({ name: 'reads', measured: 96, unit: '1/s', peer: loop, target: { of: 'ratio', atLeast: 0.5 } }),
    figure({ name: 'delay', measured: 31, unit: 'ms', target: { of: 'measured', atMost: 30 } }),
    figure({ name: 'start', measured: 40, unit: 'ms', target: { of: 'measured', atMost: 30 } }),
    figure({ name: 'stop', measured: 5, unit: 'ms' }),
  ],
});
const results = [
  result('kv', 'Reads & writes', ['of both', 'of reads']),
  result('kv', 'Deletions', ['of both', 'of deletions']),
  result('sync', 'Pushes', ['of pushes']),
];

test('each benchmark has a page, which states each note of its tables once', () => {
  const pages = pagesOf(results);
  expect([...pages.keys()]).toEqual(['kv.md', 'sync.md']);
  const page = pages.get('kv.md')!;
  for (const part of [
    '## Reads & writes',
    '## Deletions',
    '- of reads',
    '- of deletions',
    '(deletions-ms.svg)',
  ])
    expect(page).toContain(part);
  expect(page.match(/- of both|measured Monday/g)).toHaveLength(2);
});

test('the summary has a row for each benchmark, which lists by target what misses it, and says where it was measured', () => {
  const missed = 'delay: 31 ms; start: 40 ms (≤ 30 ms)';
  expect(summaryOf(results).split('\n').slice(2)).toEqual([
    `| [\`kv\`](performance/kv.md): ${abouts.kv} | 2 of 6 | **Reads & writes:** ${missed}; **Deletions:** ${missed} |`,
    `| [\`sync\`](performance/sync.md): ${abouts.sync} | 1 of 3 | ${missed} |`,
    '',
    'Measured on 2 cores; Node.',
  ]);
});

test('the documentation shows the recorded figures; UPDATE_FIGURES=1 writes it again', () => {
  for (const [file, text] of docsOf(readResults(figuresOfDocs))) {
    if (process.env.UPDATE_FIGURES === '1') writeFileSync(file, text);
    expect([file, readFileSync(file, 'utf8')]).toEqual([file, text]);
  }
});
