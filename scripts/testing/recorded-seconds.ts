import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const file = new URL('recorded-seconds.json', import.meta.url);
/** Files that take less are not recorded. */
const leastRecorded = 3;
/** Seconds that a file without a record takes on average. */
const usual = 1;

const recorded: Record<string, number> = JSON.parse(readFileSync(file, 'utf8'));

/** The seconds that a test file took when they were recorded, on two cores. */
export const secondsOf = (path: string): number => recorded[relative(root, path)] ?? usual;

/** Replaces the record. */
export function record(seconds: ReadonlyMap<string, number>): void {
  const slowestFirst = [...seconds]
    .filter(([, value]) => value >= leastRecorded)
    .sort(([, one], [, other]) => other - one)
    .map(([path, value]) => [relative(root, path), Math.round(value)]);
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(slowestFirst), undefined, 2)}\n`);
}

/** Number of files that run at the same time. Tests wait for half of their time, so two cores have room for three. */
export const workers = 3;

/** Describes how long test files take on two cores. */
export function describeDuration(paths: readonly string[]): string {
  const all = paths.map(secondsOf);
  const seconds = Math.max(0, ...all, all.reduce((sum, one) => sum + one, 0) / workers);
  return seconds < 90
    ? `about ${Math.ceil(seconds / 10) * 10} seconds`
    : `about ${Math.ceil(seconds / 60)} minutes`;
}
