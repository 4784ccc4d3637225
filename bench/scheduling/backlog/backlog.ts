import type { BenchOptions } from '../../command-line.ts';
import { median } from '../../load/statistics.ts';
import { type Figure, figure, figureColumns, figureRow } from '../../output/figure.ts';
import type { Report } from '../../output/report.ts';
import { destination as quietPath, withSyncSetup } from '../../sync/sync-setup.ts';
import {
  type BusyDestination,
  busyNames,
  createBusy,
  createBusyMount,
  type System,
} from '../busy-destination.ts';
import { queueEntries } from '../seed.ts';
import { addFault } from '../store-faults.ts';
import { measureLargeOperations } from './large-operations.ts';
import { type AssociationTimes, associationTimes, writeSecrets } from './set-and-remove.ts';
import { describeTables, type Written, writtenPerMinute } from './written-rows.ts';

const defaultEntries = 100_000;
const idleSeconds = 20;
const downSeconds = 60;
const maxWritten = 49;
const maxSetRatio = 1.1;

/** Measures what a long queue of a destination that is down costs: writes to the database, and the time of requests. */
export const benchBacklog = (options: BenchOptions): Promise<Report[]> =>
  withSyncSetup(options, { hasBudget: true }, async (setup) => {
    const { log, entries = defaultEntries } = options;
    const system: System = { ...setup, api: setup.product.api };
    const busy = await prepare(system, entries);
    const idle = await writtenPerMinute(setup.database, idleSeconds);
    log(`without a queue: ${idle.rows.toFixed(0)} rows per minute, ${describeTables(idle)}`);
    const before = await requestTimes(system, busy);
    log(`inserting ${entries} entries`);
    await queueEntries({ ...setup, api: system.api }, busy, entries);
    const queued = await writtenPerMinute(setup.database, downSeconds);
    log(`with ${entries} entries: ${queued.rows.toFixed(0)} rows per minute, ${describeTables(queued)}`);
    const during = await requestTimes(system, busy);
    const operations = await measureLargeOperations({ setup, system, busy }, options, entries);
    const after = await requestTimes(system, await createBusy(system, { ofSameAccount: false }));
    const figures = [writtenFigure(queued, idle), ...requestFigures({ before, during, after })];
    const rows = figures.map((each) => figureRow(each, each.unit === 'ms' ? 1 : 0));
    const measured = { idle, queued, before, during, after };
    const title = `${entries} entries of a destination that is down`;
    return [{ title, columns: figureColumns, rows, notes, measured, figures }, operations];
  });

/** Returns the destination whose store is down, without entries. */
async function prepare(system: System, entries: number): Promise<BusyDestination> {
  const { api, sandbox } = system;
  await api('PATCH', 'sys/sync/config', { queue_capacity: 10 * entries + 10_000 });
  await createBusyMount(api);
  await writeSecrets(api);
  await addFault(sandbox, { effect: 'reset', name: busyNames });
  return createBusy(system, { ofSameAccount: false });
}

/** The times of requests about a healthy destination, and about the one with the queue. */
interface RequestTimes {
  other: AssociationTimes;
  busy: AssociationTimes;
}

const requestTimes = async ({ api }: System, busy: BusyDestination): Promise<RequestTimes> => ({
  other: await associationTimes(api, quietPath),
  busy: await associationTimes(api, busy.path),
});

const notes = [
  'down: compared with the same without the queue, in the same run',
  `rows written: by all services, within ${downSeconds} s of an outage, and within ${idleSeconds} s without the queue, where only the worker's heartbeat writes`,
  'set and remove: with wait=0, one after the other, median of 200',
];

const writtenFigure = (queued: Written, idle: Written): Figure =>
  figure({
    name: 'rows written',
    measured: queued.rows,
    unit: 'rows/min',
    peer: { name: 'without the queue', measured: idle.rows },
    target: { of: 'measured', atMost: maxWritten },
  });

/** Compares with the times before the queue and after it together: the machine may become faster or slower. */
function requestFigures({
  before,
  during,
  after,
}: Record<'before' | 'during' | 'after', RequestTimes>): Figure[] {
  const places = { other: 'of another destination', busy: 'of this destination' };
  return (['other', 'busy'] as const).flatMap((place) =>
    (['set', 'remove'] as const).map((verb) => {
      const base = median([...before[place][verb], ...after[place][verb]]);
      return figure({
        name: `${verb} ${places[place]}`,
        measured: median(during[place][verb]),
        unit: 'ms',
        peer: { name: 'without the queue', measured: base },
        target: { of: 'ratio', atMost: maxSetRatio },
      });
    }),
  );
}
