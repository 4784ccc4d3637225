import { setTimeout as sleep } from 'node:timers/promises';
import { sandboxTypes } from '../../../tests/harness/destination-types.ts';
import type { BenchOptions } from '../../command-line.ts';
import { type Figure, figure, figureColumns, figureRow } from '../../output/figure.ts';
import type { Report } from '../../output/report.ts';
import { type SyncSetup, withSyncSetup } from '../sync-setup.ts';
import { createMount, type LookedAt, lookAtAll, pushKeys } from './looked-at.ts';

/** External secrets of a page of a list, where one serves many entries. That of webhost-project is the sandbox's own. */
const pageSizes: Readonly<Record<string, number>> = {
  'cloudB-kv': 25,
  codehost: 100,
  'webhost-project': 100,
};

const maxCalls = (type: string, secrets: number): number => Math.ceil(secrets / (pageSizes[type] ?? 1));

/** Calls about the place of the secrets, or for a token, which do not depend on their number. */
const ofPlace = /^(token|getOrganization|getProject)$/;

/** A backend reports its statistics after ten seconds without a statement at the latest. */
const statisticsMs = 11_000;

/**
 * Looks before those that are measured: the first one remembers what only a look at the secret itself shows, and rows move to
 * pages that have room for their next versions. With 5,000 entries, 72 % of the rows are HOT at first, 96 % at the sixth look.
 */
const looksBefore = 8;

/** The sandbox keeps the last 10,000 calls of each store. */
const keptCalls = 10_000;

/** The parts of a logged call that identify it, too. */
interface LoggedCall {
  operation: string;
}

/** Calls of one type, by operation. */
type Calls = Map<string, number>;

/** Measures what it takes to look at everything in a destination of each type in which nothing has changed. */
export function benchLooks(options: BenchOptions): Promise<Report[]> {
  const types = sandboxTypes.map(({ type }) => type);
  const work = (setup: SyncSetup) => measure(setup, types, options);
  return withSyncSetup(options, { types }, work, 'bench/sync/drift/earlier-sandbox.ts');
}

async function measure(setup: SyncSetup, types: string[], { secrets, log }: BenchOptions): Promise<Report[]> {
  await createMount(setup);
  const all = await pushKeys(setup, types, secrets);
  for (let look = 1; look <= looksBefore; look += 1) {
    const calls = await callsOfRound(setup, all);
    if (look === 1) for (const [type, made] of calls) log(`${type}, first look: ${describe(made)}`);
    await setup.database.query('vacuum (analyze) sync.entries'); // as autovacuum does meanwhile
  }
  const before = await rowsWritten(setup);
  const calls = await callsOfRound(setup, all);
  for (const [type, made] of calls) log(`${type}: ${describe(made)}`);
  const after = await rowsWritten(setup);
  const written = { updates: after.updates - before.updates, hot: after.hot - before.hot };
  log(`${written.updates} rows of entries written, ${written.hot} of them HOT`);
  return [callsReport(calls, secrets), rowsReport(written, secrets * types.length)];
}

/** Looks at everything in these destinations at the same time, and returns the calls of each type. */
async function callsOfRound(setup: SyncSetup, all: readonly LookedAt[]): Promise<Map<string, Calls>> {
  const before = await Promise.all(all.map(({ type }) => callsOf(setup, type)));
  await lookAtAll(setup, all);
  const after = await Promise.all(all.map(({ type }) => callsOf(setup, type)));
  return new Map(all.map(({ type }, at) => [type, countNew(before[at]!, after[at]!)]));
}

/** Counts the calls that were made since others, by operation. */
function countNew(before: readonly LoggedCall[], after: readonly LoggedCall[]): Calls {
  const last = JSON.stringify(before.at(-1));
  const made = after.slice(1 + after.findLastIndex((call) => JSON.stringify(call) === last));
  if (made.length >= keptCalls) throw new Error('the log of the sandbox is full: use fewer --secrets');
  const byOperation = Map.groupBy(made, ({ operation }) => operation);
  return new Map([...byOperation].map(([operation, calls]) => [operation, calls.length]));
}

/** Returns the last calls of a store. */
async function callsOf({ sandbox }: SyncSetup, type: string): Promise<LoggedCall[]> {
  return ((await sandbox('GET', `calls?store=${type}&limit=${keptCalls}`)) as { calls: LoggedCall[] }).calls;
}

const describe = (calls: Calls): string => [...calls].map(([name, count]) => `${count} ${name}`).join(', ');

async function rowsWritten({ database }: SyncSetup): Promise<{ updates: number; hot: number }> {
  await sleep(statisticsMs);
  const { rows } = await database.query<{ updates: number; hot: number }>(
    `select n_tup_upd::float8 as updates, n_tup_hot_upd::float8 as hot from pg_stat_user_tables
      where schemaname = 'sync' and relname = 'entries'`,
  );
  return rows[0]!;
}

function callsReport(byType: Map<string, Calls>, secrets: number): Report {
  const figures = [...byType].map(([type, calls]) => {
    const measured = [...calls].reduce((sum, [name, count]) => sum + (ofPlace.test(name) ? 0 : count), 0);
    const target = { of: 'measured', atMost: maxCalls(type, secrets) } as const;
    return figure({ name: type, measured, unit: 'calls', target });
  });
  return {
    title: `Calls to look at ${secrets} unchanged external secrets`,
    columns: [...figureColumns, 'operations'],
    rows: figures.map((each) => [...figureRow(each, 0), describe(byType.get(each.name)!)]),
    notes: [
      'calls: of one look at everything in a destination, as the sandbox has logged them, without those about the place of the secrets',
      'calls: in cloudB-kv, after a first look at each secret itself, which follows every push',
    ],
    measured: Object.fromEntries([...byType].map(([type, calls]) => [type, Object.fromEntries(calls)])),
    figures,
  };
}

function rowsReport({ updates, hot }: { updates: number; hot: number }, entries: number): Report {
  const figures: Figure[] = [
    figure({
      name: 'rows written for each entry and look',
      measured: updates / entries,
      unit: 'rows',
      target: { of: 'measured', atMost: 1 },
    }),
    figure({
      name: 'of these, HOT',
      measured: hot / updates,
      unit: 'share',
      target: { of: 'measured', atLeast: 0.95 },
    }),
  ];
  return {
    title: 'Rows written to look at unchanged entries',
    columns: figureColumns,
    rows: figures.map((each) => figureRow(each, 3)),
    notes: [
      `rows: of sync.entries, by pg_stat_user_tables, for one look at ${entries} entries of all types, after ${looksBefore} others`,
    ],
    measured: { updates, hot, entries },
    figures,
  };
}
