import { eventually } from '@secrets/testing';
import type { BenchOptions } from '../../command-line.ts';
import { median } from '../../load/statistics.ts';
import { type Figure, figure, figureColumns, figureRow } from '../../output/figure.ts';
import type { Report } from '../../output/report.ts';
import type { SyncSetup } from '../../sync/sync-setup.ts';
import { type BusyDestination, createBusy, queueByApi, type System } from '../busy-destination.ts';

const smallDestinations = 5;
const maxMs = 1_000;

interface Operation {
  what: string;
  run: (system: System, path: string) => Promise<unknown>;
  /** SQL: whether the work that it has begun on destination `$1` has ended; absent if that depends on the store. */
  hasEnded?: string;
}

const operations: Operation[] = [
  {
    what: 'PATCH of credentials',
    run: ({ api, fields: { region: _, ...credentials } }, path) => api('PATCH', path, credentials),
  },
  {
    what: 'purge',
    run: ({ api }, path) => api('DELETE', `${path}?purge=true`),
    hasEnded: `not exists (select from sync.associations where destination_id = $1 and not removing)`,
  },
  {
    what: 'force delete',
    run: ({ api }, path) => api('DELETE', `${path}?force_delete=true`),
    hasEnded: 'not exists (select from sync.destinations where id = $1)',
  },
];

/** Measures how long requests on all entries of a destination take while its store is down. */
export async function measureLargeOperations(
  { setup, system, busy }: { setup: SyncSetup; system: System; busy: BusyDestination },
  { log }: BenchOptions,
  entries: number,
): Promise<Report> {
  const small: BusyDestination[] = [];
  for (let at = 0; at < smallDestinations; at += 1) {
    const destination = await createBusy(system, { ofSameAccount: false });
    await queueByApi(system.api, destination, 10);
    small.push(destination);
  }
  const rows: string[][] = [];
  const figures: Figure[] = [];
  const measured: Record<string, object> = {};
  for (const { what, run, hasEnded } of operations) {
    const base: number[] = [];
    for (const { path } of small) base.push(await timeOf(() => run(system, path)));
    const id = await idOf(setup, busy);
    const took = await timeOf(() => run(system, busy.path));
    const end = hasEnded === undefined ? undefined : await timeOf(() => untilEnded(setup, hasEnded, id));
    log(
      `${what}: ${took.toFixed(1)} ms${end === undefined ? '' : `, ended after ${(end / 1_000).toFixed(1)} s`}`,
    );
    const response = figure({
      name: what,
      measured: took,
      unit: 'ms',
      peer: { name: 'with ten entries', measured: median(base) },
      target: { of: 'measured', atMost: maxMs },
    });
    figures.push(response);
    rows.push([...figureRow(response), end === undefined ? '' : (end / 1_000).toFixed(1)]);
    measured[what] = { figure: took, base, end };
  }
  return {
    title: `Requests about ${entries} entries: ms until the response`,
    columns: [...figureColumns, 'ended after s'],
    rows,
    notes: [
      `requests: compared with the same for a destination with ten entries, median of ${smallDestinations}`,
      'requests: in this order, on the same destination, whose store is down; the purge ends here when every removal is requested',
    ],
    measured,
    figures,
  };
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function idOf({ database }: SyncSetup, { name }: BusyDestination): Promise<string> {
  const { rows } = await database.query<{ id: string }>('select id from sync.destinations where name = $1', [
    name,
  ]);
  return rows[0]!.id;
}

const untilEnded = ({ database }: SyncSetup, hasEnded: string, id: string): Promise<boolean> =>
  eventually(
    async () => {
      const { rows } = await database.query<{ ended: boolean }>(`select (${hasEnded}) as ended`, [id]);
      return rows[0]!.ended;
    },
    { timeoutMs: 600_000, intervalMs: 100 },
  );
