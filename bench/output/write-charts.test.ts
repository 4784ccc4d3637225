import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { figure } from './figure.ts';
import { chartsOf, writeCharts } from './write-charts.ts';

let folder: string;
let charts: ReturnType<typeof chartsOf>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'charts-'));
  const peer = { name: 'the loop', measured: 200 };
  const figures = [
    figure({ name: 'draining', measured: 190, unit: '1/s', peer, target: { of: 'ratio', atLeast: 0.95 } }),
    figure({ name: 'pushing', measured: 190, unit: '1/s' }),
    figure({ name: 'removing', measured: 190, unit: '1/s' }),
    figure({ name: 'a write', measured: 31, unit: 'ms', target: { of: 'measured', atMost: 30 } }),
    figure({ name: 'a read', measured: 3, unit: 'ms' }),
    figure({ name: 'a list', measured: 4, unit: 'ms' }),
    figure({ name: 'memory', measured: 200, unit: 'MiB' }),
    figure({ name: 'memory under load', measured: 300, unit: 'MiB' }),
  ];
  const about = {
    benchmark: 'sync' as const,
    date: '',
    machine: '',
    versions: '',
    columns: [],
    rows: [],
    notes: [],
  };
  const result = { ...about, title: 'Sync & more', figures };
  charts = chartsOf(result);
  await writeCharts(folder, [result]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const svgOf = (unit: string) =>
  readFileSync(join(folder, charts.find((chart) => chart.unit === unit)!.file), 'utf8');

test('three or more figures of a unit have a chart of their own', () => {
  expect(charts.map(({ file }) => file)).toEqual(['sync-more-1-s.svg', 'sync-more-ms.svg']);
  expect(svgOf('ms')).not.toContain('draining');
});

test('a chart draws the limit of each figure that has one', () => {
  const limits = /class="mark-rect role-mark layer_2_marks"[^>]*>(.*?)<\/g>/s.exec(svgOf('ms'))?.[1];
  expect(limits?.match(/<path/g)).toHaveLength(1);
});

test('a chart says in words what was measured, and what was to be reached', () => {
  expect(svgOf('1/s')).toContain('190 = 0.95 × the loop, target ≥ 0.95 × the loop');
});

test('the text of a chart follows the colors of the page', () => {
  expect(svgOf('ms')).toContain('prefers-color-scheme:dark');
});
