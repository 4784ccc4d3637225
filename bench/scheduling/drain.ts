import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchOptions } from '../command-line.ts';
import { median } from '../load/statistics.ts';
import { figure, figureColumns, figureRow } from '../output/figure.ts';
import type { Report } from '../output/report.ts';
import { newValue, type SyncSetup, withSyncSetup } from '../sync/sync-setup.ts';
import { callsPerSecond, createBusy, createBusyMount, type System } from './busy-destination.ts';
import { queueEntries } from './seed.ts';
import { addFault, countCalls } from './store-faults.ts';

const defaultEntries = 100_000;
const concurrency = 16; // a worker's default
const storeMs = 50;
/** Windows grow, and the burst of a budget is used up. */
const warmUpSeconds = 4;
const minRatio = 0.95;

/** Measures how fast a backlog drains, compared with the same calls in a loop, when no budget limits it. */
export const benchDrain = (options: BenchOptions): Promise<Report[]> => benchDrainWith(options, false);

/** Measures how fast a backlog drains, compared with the budget of its account. */
export const benchDrainWithinBudget = (options: BenchOptions): Promise<Report[]> =>
  benchDrainWith(options, true);

interface Round {
  product: number;
  base: number;
}

const benchDrainWith = (options: BenchOptions, hasBudget: boolean): Promise<Report[]> =>
  withSyncSetup(options, { hasBudget }, async (setup) => {
    const system: System = { ...setup, api: setup.product.api };
    const entries = options.entries ?? defaultEntries;
    await createBusyMount(system.api);
    await system.api('PATCH', 'sys/sync/config', { disabled: true });
    const destination = await createBusy(system, { ofSameAccount: true });
    await queueEntries({ ...setup, api: system.api }, destination, entries);
    await addFault(system.sandbox, { effect: 'slow', ms: storeMs });
    const created = await countCalls(system.sandbox, { operation: 'CreateSecret' });
    const rounds: Round[] = [];
    for (let round = 0; round < options.rounds; round += 1) {
      const product = await drain(system, created, options.seconds);
      await assertBacklog(setup);
      const base = hasBudget ? callsPerSecond : await loop(setup, round, options.seconds);
      rounds.push({ product, base });
      options.log(`round ${round + 1}: ${product.toFixed(1)}/s, base ${base.toFixed(1)}/s`);
    }
    return [reportOf(rounds, { entries, hasBudget })];
  });

/** Enables syncing for a while. Returns the secrets per second that reached the store after the warm-up. */
async function drain({ api }: System, created: () => Promise<number>, seconds: number): Promise<number> {
  await api('PATCH', 'sys/sync/config', { disabled: false });
  await sleep(warmUpSeconds * 1_000);
  const [before, began] = [await created(), performance.now()];
  await sleep(seconds * 1_000);
  const [after, ended] = [await created(), performance.now()];
  await api('PATCH', 'sys/sync/config', { disabled: true });
  await sleep(1_000); // what was in progress ends
  return ((after - before) / (ended - began)) * 1_000;
}

async function assertBacklog({ database }: SyncSetup): Promise<void> {
  const { rows } = await database.query('select from sync.entries where due_at <= now() limit 1');
  if (rows.length === 0) throw new Error('the backlog was drained before the end: use more --entries');
}

/** Returns the secrets per second that the provider's client creates when a process does nothing else. */
async function loop({ storeProcess, addresses }: SyncSetup, round: number, seconds: number): Promise<number> {
  const count = Math.ceil((concurrency * seconds * 1_000) / storeMs);
  const names = Array.from({ length: count }, (_, at) => `limit/${round}/app-${at}`);
  const value = JSON.stringify(newValue().data);
  const took = await storeProcess.run({
    address: addresses.get('cloudA-sm')!,
    operation: 'create',
    names,
    value,
    concurrency,
  });
  return count / took.seconds;
}

function reportOf(rounds: Round[], { entries, hasBudget }: { entries: number; hasBudget: boolean }): Report {
  const ratio = median(rounds.map(({ product, base }) => product / base));
  const drained = figure({
    name: 'draining',
    measured: median(rounds.map(({ product }) => product)),
    unit: 'secrets/s',
    peer: {
      name: hasBudget ? 'the budget' : 'the loop',
      measured: median(rounds.map((round) => round.base)),
    },
    ratio,
    target: { of: 'ratio', atLeast: minRatio },
  });
  const base = hasBudget
    ? `the budget: that of the account, ${callsPerSecond} calls per second`
    : `the loop: the same call of the provider's client, ${concurrency} at once, from a separate process, without a budget`;
  return {
    title: `Draining ${entries} entries of one destination${hasBudget ? ', within its budget' : ''}`,
    columns: figureColumns,
    rows: [figureRow(drained)],
    notes: [
      `draining: first push of each entry, by one worker process with ${concurrency} at once; the store responds after ${storeMs} ms`,
      base,
    ],
    measured: rounds,
    figures: [drained],
  };
}
