import type { BenchOptions } from '../command-line.ts';
import { quantile } from '../load/statistics.ts';
import { figure } from '../output/figure.ts';
import type { Report } from '../output/report.ts';
import { type SyncSetup, withSyncSetup } from '../sync/sync-setup.ts';
import { createBusyMount, type System } from './busy-destination.ts';
import { aloneRow, delayColumns, delayRow, describeDelays } from './delay-table.ts';
import { openQuiet, type Quiet } from './quiet-destination.ts';
import { deleteEntries, queueEntries } from './seed.ts';
import { slowestCommitDuring } from './slowest-commit.ts';
import { startTrouble, type Trouble, troubles } from './trouble.ts';

const writesPerTurn = 60;
const silent = 10;
const defaultEntries = 100_000;
const alone = 'alone';

/** Measures the delay of a write to a quiet destination, alone and next to destinations with a long queue. */
export const benchFairness = (options: BenchOptions): Promise<Report[]> =>
  withSyncSetup(options, { hasBudget: true }, async (setup) => {
    const entries = options.entries ?? defaultEntries;
    const kinds = troubles({ silent });
    const system: System = { ...setup, api: setup.product.api };
    const turns = options.rounds * (kinds.length + 1);
    const quiet = await openQuiet(system, turns * (writesPerTurn + 10));
    await createBusyMount(system.api);
    const delays = new Map<string, number[]>();
    const commits = new Map<string, number[]>();
    const turn = async (name: string) => {
      // Otherwise, the disk is still writing what was inserted, and single commits wait for it.
      await setup.database.query('checkpoint');
      let measured: number[] = [];
      const slowest = await slowestCommitDuring(setup.database, async () => {
        measured = await quiet.delays(writesPerTurn);
      });
      delays.set(name, [...(delays.get(name) ?? []), ...measured]);
      commits.set(name, [...(commits.get(name) ?? []), slowest]);
      options.log(`${describeDelays(name, measured)}, slowest commit ${slowest.toFixed(1)} ms`);
    };
    for (let round = 0; round < options.rounds; round += 1) {
      await quiet.settle();
      await turn(alone);
      for (const kind of kinds)
        await nextTo({ setup, system, quiet }, kind, { entries, turn: () => turn(kind.name) });
    }
    return [reportOf({ delays, commits }, kinds, entries)];
  });

async function nextTo(
  { setup, system, quiet }: { setup: SyncSetup; system: System; quiet: Quiet },
  kind: Trouble,
  { entries, turn }: { entries: number; turn: () => Promise<void> },
): Promise<void> {
  const { destinations, end } = await startTrouble(system, kind, (destination) =>
    queueEntries({ ...setup, api: system.api }, destination, Math.ceil(entries / kind.destinations)),
  );
  await turn();
  await end();
  await deleteEntries(setup.database, destinations);
  await quiet.settle();
}

function reportOf(
  { delays, commits }: { delays: Map<string, number[]>; commits: Map<string, number[]> },
  kinds: Trouble[],
  entries: number,
): Report {
  const base = delays.get(alone)!;
  const figures = kinds.map(({ name, maxRatio }) =>
    figure({
      name: `${name}: p99`,
      measured: quantile(delays.get(name)!, 0.99),
      unit: 'ms',
      peer: { name: alone, measured: quantile(base, 0.99) },
      target: { of: 'ratio', atMost: maxRatio },
    }),
  );
  const slowest = (name: string) => Math.max(...commits.get(name)!).toFixed(1);
  const rows = kinds.map(({ name }, at) => [
    ...delayRow(name, delays.get(name)!, base, figures[at]!),
    slowest(name),
  ]);
  return {
    title: `Delay of a write to a quiet destination, next to ${entries} queued entries`,
    columns: [...delayColumns, 'slowest commit ms'],
    rows: [[...aloneRow(alone, base), slowest(alone)], ...rows],
    notes,
    measured: { delays: Object.fromEntries(delays), slowestCommits: Object.fromEntries(commits) },
    figures,
  };
}

const notes = [
  `delay: from the response to a write until its call of the store; ${writesPerTurn} writes in each turn, about 50 ms apart`,
  `entries: those of one destination, or of ${silent} together that never answer`,
  'slowest commit: of an update of one row, made every 10 ms meanwhile; one write needs four commits on the same disk',
  'one worker process with 16 entries at once; budget of an account as in production',
];
