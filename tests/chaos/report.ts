import type { FireReport } from './campaigns/campaign.ts';

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

/** Prints what a run did and found. */
export function printReport(report: FireReport, log: (line: string) => void): void {
  log(`\nseed ${report.seed}: ${seconds(report.durationMs)} s; full disk: ${report.fullDisk}`);
  log(`faults: ${counts(report.faults)}`);
  for (const [act, outcomes] of Object.entries(report.operations))
    log(`${act.padEnd(8)} ${counts(outcomes)}`);
  log(`settled after ${report.settledAfterMs.map(seconds).join(', ')} s`);
  if (report.foundAfterMs !== null) log(`first violation found after ${seconds(report.foundAfterMs)} s`);
  for (const [check, found] of Object.entries(report.violations))
    log(`${check}: ${found.length || 'no'} violations`);
}

const counts = (found: Record<string, number>): string =>
  Object.entries(found)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
