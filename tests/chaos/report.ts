import type { FireReport } from './campaigns/campaign.ts';
import type { Recovery } from './campaigns/region/region.ts';

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

/** Prints what a run did and found. */
export function printReport(report: FireReport & { recovery?: Recovery }, log: (line: string) => void): void {
  log(`\nseed ${report.seed}: ${seconds(report.durationMs)} s; full disk: ${report.fullDisk}`);
  log(`faults: ${counts(report.faults)}`);
  for (const [act, outcomes] of Object.entries(report.operations))
    log(`${act.padEnd(8)} ${counts(outcomes)}`);
  log(`settled after ${report.settledAfterMs.map(seconds).join(', ')} s`);
  if (report.recovery !== undefined) printRecovery(report.recovery, log);
  if (report.foundAfterMs !== null) log(`first violation found after ${seconds(report.foundAfterMs)} s`);
  for (const [check, found] of Object.entries(report.violations))
    log(`${check}: ${found.length || 'no'} violations`);
}

const counts = (found: Record<string, number>): string =>
  Object.entries(found)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');

function printRecovery(
  { loss, promoted, ready, written, converged }: Recovery,
  log: (line: string) => void,
): void {
  const { acknowledged, lost } = loss;
  log(
    `recovery point: ${loss.seconds.toFixed(1)} s, ${loss.transactions} transactions, ${loss.logKibibytes} KiB of the log; of the requests ` +
      `that were acknowledged in this time, ${lost.writes} of ${acknowledged.writes} writes and ${lost.sets} of ${acknowledged.sets} sets are lost`,
  );
  log(
    `recovery time: promoted after ${promoted.toFixed(1)} s, services ready after ${ready.toFixed(1)} s, a write acknowledged after ` +
      `${written.toFixed(1)} s, everything converged after ${converged.toFixed(1)} s`,
  );
}
