import { existsSync, readFileSync } from 'node:fs';
import { abouts, type BenchmarkName } from './abouts.ts';
import type { Figure } from './figure.ts';
import type { Report } from './report.ts';

/** A report, and when and where it was measured. */
export interface Result extends Omit<Report, 'measured' | 'figures'> {
  benchmark: BenchmarkName;
  date: string;
  machine: string;
  versions: string;
  figures: Figure[];
}

/** Reads the results of earlier runs; none if the file does not exist. */
export const readResults = (file: string): Result[] =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Result[]) : [];

/** Replaces results of the same title by newer ones. Sorts them by the order of the benchmarks. */
export function mergeResults(older: readonly Result[], newer: readonly Result[]): Result[] {
  const byTitle = new Map([...older, ...newer].map((result) => [result.title, result]));
  const order = Object.keys(abouts);
  const place = ({ benchmark }: Result) => order.indexOf(benchmark);
  return [...byTitle.values()].sort((a, b) => place(a) - place(b));
}
