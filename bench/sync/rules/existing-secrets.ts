import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchOptions } from '../../command-line.ts';
import { memoryOf } from '../../load/process-tree.ts';
import { median } from '../../load/statistics.ts';
import { figure, figureColumns, figureRow } from '../../output/figure.ts';
import type { Report } from '../../output/report.ts';
import { addFault, countCalls } from '../../scheduling/store-faults.ts';
import { destination, mount, type SyncSetup, untilTrue, withSyncSetup } from '../sync-setup.ts';
import { insertSecrets, planRule, untilUpToDate, writeRule } from './write-rule.ts';

const defaultEntries = 100_000;
const storeMs = 1;
const minRate = 0.9;
const maxGrowth = 1.1;
const plans = 20;
const maxPlanMs = 200;
/** Secrets per second that may be drained at most: so many are queued for the measurement of it. */
const drainedAtMost = 2_000;
/** Windows grow, and code is compiled. */
const warmUpSeconds = 4;
/** The services whose memory is compared. */
const services = ['sync-control', 'secrets'] as const;

/**
 * Measures how long the plan of a rule over existing secrets takes, how fast it associates them, next to how fast they are
 * drained, and the memory that it needs.
 */
export const benchExistingSecrets = (options: BenchOptions): Promise<Report[]> =>
  withSyncSetup(options, {}, async (setup) => {
    const { log, seconds } = options;
    const entries = options.entries ?? defaultEntries;
    const queued = Math.min(entries, (warmUpSeconds + seconds) * drainedAtMost);
    await insertSecrets(setup, { mount, folder: 'queued', count: queued });
    await insertSecrets(setup, { mount, folder: 'existing', count: entries });
    await addFault(setup.sandbox, { effect: 'slow', ms: storeMs });
    const created = await countCalls(setup.sandbox, { operation: 'CreateSecret' });
    await setup.product.api('PATCH', 'sys/sync/config', { disabled: true });
    const idle = await associate(setup, created, { folder: 'queued', count: queued });
    log(`associated without a drain: ${idle.rate.toFixed(0)}/s`);
    const drained = await drain(setup, created, seconds);
    log(`drained: ${drained.toFixed(0)}/s`);
    await untilTrue(
      setup,
      'what was queued is drained',
      `not exists (select from sync.entries where status <> 'SYNCED')`,
    );
    const planMs = await planTimes(setup);
    log(`plan: p50 ${median(planMs).toFixed(0)} ms`);
    const associated = await associate(setup, created, { folder: 'existing', count: entries });
    log(`associated: ${associated.rate.toFixed(0)}/s, outside meanwhile: ${associated.outside.toFixed(0)}/s`);
    return [reportOf({ entries, idle: idle.rate, drained, planMs, ...associated })];
  });

/** Returns the times in ms of the first page of a plan, one after the other. */
async function planTimes(setup: SyncSetup): Promise<number[]> {
  const times: number[] = [];
  for (let at = 0; at < plans; at += 1) {
    const began = performance.now();
    await planRule(setup, destination, { mount, folder: 'existing' });
    times.push(performance.now() - began);
  }
  return times;
}

interface Associated {
  /** Secrets that were associated per second, and that reached the store meanwhile. */
  rate: number;
  outside: number;
  /** MiB of each service, when a third was associated, and at most after that. */
  memory: Record<string, { before: number; peak: number }>;
}

/** Writes a rule and waits until it has associated everything. */
async function associate(
  setup: SyncSetup,
  created: () => Promise<number>,
  { folder, count }: { folder: string; count: number },
): Promise<Associated> {
  await writeRule(setup, destination, { mount, folder });
  const progress = () => progressOf(setup, folder);
  while ((await progress()) === 0) await sleep(10);
  const [startedAt, atStart, before] = [performance.now(), await progress(), await created()];
  const memory: Associated['memory'] = {};
  for (let done = atStart; done < count; done = await progress()) {
    if (done >= count / 3) recordMemory(setup, memory);
    await sleep(250);
  }
  const took = (performance.now() - startedAt) / 1_000;
  const outside = ((await created()) - before) / took;
  await untilUpToDate(setup, folder);
  return { rate: (count - atStart) / took, outside, memory };
}

/** The number of secrets that the run of a rule has got through. */
async function progressOf({ database }: SyncSetup, folder: string): Promise<number> {
  const { rows } = await database.query<{ done: number; error: string | null }>(
    'select coalesce(matched, matched_so_far) as done, error from sync.rules where name = $1',
    [folder],
  );
  const { done, error } = rows[0]!;
  if (error !== null) throw new Error(`the rule ${folder} has an error: ${error}`);
  return done;
}

function recordMemory({ product }: SyncSetup, memory: Associated['memory']): void {
  for (const service of services) {
    const pids = product.programs.filter((one) => one.service === service).map(({ program }) => program.pid);
    const { resident } = memoryOf(pids);
    const { before = resident, peak = resident } = memory[service] ?? {};
    memory[service] = { before, peak: Math.max(peak, resident) };
  }
}

/** Enables syncing. Returns the secrets per second that reach the store after the warm-up. */
async function drain(
  { product }: SyncSetup,
  created: () => Promise<number>,
  seconds: number,
): Promise<number> {
  await product.api('PATCH', 'sys/sync/config', { disabled: false });
  await sleep(warmUpSeconds * 1_000);
  const [before, began] = [await created(), performance.now()];
  await sleep(seconds * 1_000);
  return (((await created()) - before) * 1_000) / (performance.now() - began);
}

interface Measured extends Associated {
  entries: number;
  idle: number;
  drained: number;
  planMs: number[];
}

function reportOf(measured: Measured): Report {
  const { entries, idle, drained, planMs, rate, outside, memory } = measured;
  const peer = { name: 'drained', measured: drained };
  const figures = [
    figure({
      name: 'first page of its plan, p50',
      measured: median(planMs),
      unit: 'ms',
      target: { of: 'measured', atMost: maxPlanMs },
    }),
    figure({
      name: 'associated',
      measured: rate,
      unit: 'secrets/s',
      peer,
      target: { of: 'ratio', atLeast: minRate },
    }),
    figure({ name: 'outside meanwhile', measured: outside, unit: 'secrets/s', peer }),
    figure({ name: 'associated while syncing is disabled', measured: idle, unit: 'secrets/s' }),
    ...Object.entries(memory).map(([service, { before, peak }]) =>
      figure({
        name: `memory of ${service}`,
        measured: peak,
        unit: 'MiB',
        peer: { name: 'after a third', measured: before },
        target: { of: 'ratio', atMost: maxGrowth },
      }),
    ),
  ];
  return {
    title: `A rule over ${entries} existing secrets`,
    columns: figureColumns,
    rows: figures.map((each) => figureRow(each)),
    notes: [
      `plan: ${planMs.length} requests for its first page, one after the other, before the rule is written`,
      `associated: per second of the run, while what it associates is drained by one worker process; the store responds after ${storeMs} ms, and no budget limits it`,
      'drained: secrets per second that another rule had associated before, while syncing was disabled',
      'memory: resident, at most during the last two thirds of the run, next to the beginning of these',
    ],
    measured,
    figures,
  };
}
