import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchOptions } from '../command-line.ts';
import { figure, figureColumns, figureRow } from '../output/figure.ts';
import type { Report } from '../output/report.ts';
import { withSyncSetup } from '../sync/sync-setup.ts';
import { callsPerSecond, createBusy, createBusyMount, queueByApi, type System } from './busy-destination.ts';
import { countCalls } from './store-faults.ts';

const workers = 3;
const destinations = 20;
const minSeconds = 20;
/** At first, a burst is allowed. */
const burstSeconds = 4;
const spareEntries = 1.5;

/** Measures how many calls several workers make together for several destinations of one account. */
export const benchAccountBudget = (options: BenchOptions): Promise<Report[]> =>
  withSyncSetup(options, { hasBudget: true, workers }, async (setup) => {
    const system: System = { ...setup, api: setup.product.api };
    const seconds = Math.max(minSeconds, options.seconds);
    const needed = callsPerSecond * (burstSeconds + 1 + seconds) * spareEntries;
    await system.api('PATCH', 'sys/sync/config', { disabled: true });
    await createBusyMount(system.api);
    for (let at = 0; at < destinations; at += 1) {
      const destination = await createBusy(system, { ofSameAccount: true });
      await queueByApi(system.api, destination, Math.ceil(needed / destinations));
    }
    const calls = await countCalls(system.sandbox, {});
    await system.api('PATCH', 'sys/sync/config', { disabled: false });
    await sleep(burstSeconds * 1_000);
    const perMinute = await rateOf(calls, seconds);
    options.log(`${perMinute.toFixed(0)} calls per minute`);
    return [reportOf(perMinute, seconds)];
  });

/** Counts for this many seconds. Returns calls per minute. */
async function rateOf(calls: () => Promise<number>, seconds: number): Promise<number> {
  const [before, began] = [await calls(), performance.now()];
  await sleep(seconds * 1_000);
  const [after, ended] = [await calls(), performance.now()];
  return ((after - before) / (ended - began)) * 60_000;
}

function reportOf(perMinute: number, seconds: number): Report {
  const base = callsPerSecond * 60;
  const calls = figure({
    name: 'calls of one account',
    measured: perMinute,
    unit: 'calls/min',
    peer: { name: 'its budget', measured: base },
    target: { of: 'ratio', atLeast: 0.9, atMost: 1 },
  });
  return {
    title: `Calls of ${workers} workers for ${destinations} destinations of one account`,
    columns: figureColumns,
    rows: [figureRow(calls, 0)],
    notes: [
      `calls: within ${seconds} s, beginning ${burstSeconds} s after syncing was enabled, compared with the account's budget`,
    ],
    measured: { perMinute, base, seconds },
    figures: [calls],
  };
}
