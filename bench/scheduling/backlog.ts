import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchOptions } from '../command-line.ts';
import { median } from '../load/statistics.ts';
import type { Report } from '../report.ts';
import { destination as quietPath, type SyncSetup, withSyncSetup } from '../sync/sync-setup.ts';
import { type BusyDestination, createBusy, createBusyMount, type System } from './busy-destination.ts';
import { measureLargeOperations } from './large-operations.ts';
import { queueEntries } from './seed.ts';
import { type AssociationTimes, associationTimes, writeSecrets } from './set-and-remove.ts';
import { addFault, type StoreFault } from './store-faults.ts';
import { targetColumns, targetRow } from './target.ts';
import { type Written, writtenPerMinute } from './written-rows.ts';

const defaultEntries = 100_000;
const idleSeconds = 20;
const downSeconds = 60;
const maxWritten = 50;
const maxSetRatio = 1.1;
const down: StoreFault = { effect: 'reset', name: 'busy/*' };

/** Measures what a long queue of a destination that is down costs: writes to the database, and the time of requests. */
export const benchBacklog = (options: BenchOptions): Promise<Report[]> =>
  withSyncSetup(options, { hasBudget: true }, async (setup) => {
    const entries = options.entries ?? defaultEntries;
    const system: System = { ...setup, api: setup.product.api };
    await system.api('PATCH', 'sys/sync/config', { queue_capacity: 10 * entries + 10_000 });
    await createBusyMount(system.api);
    await writeSecrets(system.api);
    await addFault(system.sandbox, down);
    const busy = await createBusy(system, { ofSameAccount: false });
    const queue = (destination: BusyDestination) =>
      queueEntries({ ...setup, api: system.api }, destination, entries);
    return [
      await measureQueue({ setup, system, busy, queue: () => queue(busy) }, options, entries),
      await measureLargeOperations({ setup, system, busy }, options, entries),
    ];
  });

interface Queue {
  setup: SyncSetup;
  system: System;
  busy: BusyDestination;
  queue: () => Promise<void>;
}

/** Measures without the queue, and then with it. */
async function measureQueue(
  { setup, system, busy, queue }: Queue,
  { log }: BenchOptions,
  entries: number,
): Promise<Report> {
  const idle = await writtenPerMinute(setup.database, idleSeconds);
  log(`without a queue: ${idle.rows.toFixed(0)} rows per minute`);
  const none = await associationTimes(system.api, quietPath);
  const noneOfBusy = await associationTimes(system.api, busy.path);
  log(`inserting ${entries} entries`);
  await queue();
  await sleep(5_000);
  const queued = await writtenPerMinute(setup.database, downSeconds);
  log(
    `with ${entries} entries: ${queued.rows.toFixed(0)} rows per minute ${JSON.stringify(queued.rowsByTable)}`,
  );
  const next = await associationTimes(system.api, quietPath);
  const ofBusy = await associationTimes(system.api, busy.path);
  return {
    title: `${entries} entries of a destination that is down`,
    columns: targetColumns,
    rows: [
      writtenRow(queued, idle),
      ...setRows('of another destination', next, none),
      ...setRows('of this destination', ofBusy, noneOfBusy),
    ],
    notes,
    measured: { idle, queued, none, noneOfBusy, next, ofBusy },
  };
}

const notes = [
  'base: the same without the queue, in the same run',
  `rows inserted, updated and deleted by all services in all tables, within ${downSeconds} s from 5 s after the store went down, and within ${idleSeconds} s without the queue: that is the heartbeat of the worker`,
  'set and remove with wait=0, one after the other; median',
  'the entries were inserted with SQL, as copies of an association that was set through the API',
];

const writtenRow = (queued: Written, idle: Written): string[] =>
  targetRow({
    what: 'rows written per minute',
    figure: queued.rows,
    base: idle.rows,
    target: `under ${maxWritten}`,
    isMet: queued.rows < maxWritten,
    digits: 0,
  });

const setRows = (where: string, queued: AssociationTimes, none: AssociationTimes): string[][] =>
  (['set', 'remove'] as const).map((verb) => {
    const [figure, base] = [median(queued[verb]), median(none[verb])];
    return targetRow({
      what: `${verb} ${where}, ms`,
      figure,
      base,
      target: `at most ${maxSetRatio} times`,
      isMet: figure <= maxSetRatio * base,
      digits: 2,
    });
  });
