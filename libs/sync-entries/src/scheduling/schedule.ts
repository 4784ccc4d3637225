import type { Db, Sql, Tx } from '@secrets/db';
import type { EntryMessage } from '@secrets/domain';
import { type Admission, admit, type Budget } from '@secrets/scheduler';
import { type ReadLane, readLanes, reopeningOf } from './read-lanes.ts';
import { liveSlots } from './workers.ts';

/** Entries that one scheduler has admitted. They are due again after 30 s unless they are marked as announced. */
export interface AdmittedEntries {
  messages: EntryMessage[];
  /** The transaction that admitted them: a row that still has it as `xmin` is unchanged since. */
  admissionXid: string;
  /** Whether entries are due that could not be admitted now. */
  isBusy: boolean;
  /** When the next pause ends, in milliseconds from now; undefined if nothing is paused. */
  nextReopeningMs: number | undefined;
}

export interface ScheduleOptions {
  destinationType: string;
  budget: Budget;
}

/** How many entries may be outstanding in a type, as a multiple of the slots of its workers. */
const queueFactor = 2.5;
/** As many slots are assumed while no worker is alive, so that the queue fills up and waits. */
const slotsWithoutWorkers = 16;
const nothing: AdmittedEntries = {
  messages: [],
  admissionXid: '0',
  isBusy: false,
  nextReopeningMs: undefined,
};

/**
 * Admits due entries of one type: reads the lanes, decides with `admit`, and marks the admitted entries, in one transaction. One scheduler
 * per type at a time; another one that asks meanwhile admits nothing.
 */
export function admitEntries(db: Db, { destinationType, budget }: ScheduleOptions): Promise<AdmittedEntries> {
  return db.transaction(async (tx) => {
    const { locked, hasDue, nowMs, slots } = await beginRound(tx, destinationType);
    if (!locked) return { ...nothing, isBusy: true };
    if (!hasDue) return nothing;
    const lanes = await readLanes(tx, destinationType, { budget, nowMs });
    const isBusy = lanes.some(
      ({ window, destinations }) => window > 0 && destinations.some(({ hasDue }) => hasDue),
    );
    const nextReopeningMs = reopeningOf(lanes, nowMs);
    if (!isBusy) return { ...nothing, nextReopeningMs };
    const admission = admit(lanes, { slots: slots || slotsWithoutWorkers, queueFactor });
    const rows = await markAdmitted(tx, await serve(tx, lanes, admission));
    return {
      messages: rows.map(({ id, destination_id }) => ({ entry_id: id, destination_id })),
      admissionXid: rows[0]?.xid ?? '0',
      isBusy,
      nextReopeningMs,
    };
  });
}

interface Round {
  /** Whether this process is the scheduler of the type until the end of the transaction. */
  locked: boolean;
  /** Whether anything of the type is due: a single index lookup, so that an idle type costs nothing. */
  hasDue: boolean;
  nowMs: number;
  /** Slots of all live workers of the type together. */
  slots: number;
}

async function beginRound(tx: Tx, destinationType: string): Promise<Round> {
  const [round] = await tx.query<Round>(
    // Ordered, or Postgres prefers a sequential scan when it expects that many entries are due. `exists` would drop the order.
    `select pg_try_advisory_xact_lock(hashtextextended('sync scheduler ' || $1, 0)) as locked,
            (select true from sync.entries where destination_type = $1 and due_at <= now() order by due_at limit 1) is true as "hasDue",
            (extract(epoch from now()) * 1000)::float8 as "nowMs", ${liveSlots('$1')} as slots`,
    [destinationType],
  );
  return round!;
}

/**
 * Takes an admission out of the budgets of its lanes, and records their turns. Locks the lanes before any entry: whoever changes a lane and
 * its entries locks them in this order too. Leaves out lanes that are locked, because they are about to change, and those that were paused in
 * the meantime: they have their turn in the next round. Returns the rest of the admission. The budget of an entry that is not admitted after
 * all, because it is about to change, is lost; it is admitted in a later round.
 */
async function serve(tx: Tx, lanes: readonly ReadLane[], admission: Admission): Promise<Admission> {
  const served = lanes
    .map((lane) => ({
      lane,
      count: lane.destinations.reduce((sum, { id }) => sum + (admission.get(id) ?? 0), 0),
    }))
    .filter(({ count }) => count > 0);
  const rows = await tx.query<{ id: string }>(
    `update sync.lanes l set tokens = served.tokens, refilled_at = to_timestamp(served.refilled / 1000), served_at = now()
       from unnest($1::uuid[], $2::float8[], $3::float8[]) as served (id, tokens, refilled)
      where l.id = served.id
        and l.id = any(array(select id from sync.lanes where id = any($1::uuid[]) and coalesce(paused_until, '-infinity') <= now()
                      order by id for no key update skip locked))
      returning l.id`,
    [
      served.map(({ lane }) => lane.id),
      served.map(({ lane, count }) => lane.bucket.tokens - count),
      served.map(({ lane }) => lane.bucket.refilledAtMs),
    ],
  );
  const open = new Set(rows.map(({ id }) => id));
  const destinations = served
    .filter(({ lane }) => open.has(lane.id))
    .flatMap(({ lane }) => lane.destinations);
  return new Map(destinations.flatMap(({ id }) => (admission.has(id) ? [[id, admission.get(id)!]] : [])));
}

interface AdmittedRow {
  id: string;
  destination_id: string;
  xid: string;
}

/** Marks the first due entries of each destination, what users asked for before retries, and those before the rest. */
async function markAdmitted(tx: Tx, admission: Admission): Promise<AdmittedRow[]> {
  const wanted = new Map(admission);
  const admitted: AdmittedRow[] = [];
  for (const priority of [0, 1, 2]) {
    if (wanted.size === 0) break;
    const rows = await tx.query<AdmittedRow>(
      `update sync.entries set announced_at = now(), due_at = now() + interval '30 seconds'
        where id = any(array(
          select picked.id from unnest($1::uuid[], $2::int[]) as w (destination_id, n) cross join lateral (
            select e.id from sync.entries e
             where e.destination_id = w.destination_id and e.priority = $3 and e.due_at <= now()
             order by e.due_at limit w.n for update skip locked) as picked))
        returning id, destination_id, xmin::text as xid`,
      [[...wanted.keys()], [...wanted.values()], priority],
    );
    for (const { destination_id: id } of rows) {
      const left = wanted.get(id)! - 1;
      if (left > 0) wanted.set(id, left);
      else wanted.delete(id);
    }
    admitted.push(...rows);
  }
  return admitted;
}

/**
 * SQL of an array of IDs: those of the entries `$1` that are unchanged since the admission `$2`. A locked row is about to change and is
 * left out: holding many rows while waiting for another risks a deadlock.
 */
const stillAdmitted =
  'array(select id from sync.entries where id = any($1::uuid[]) and xmin = $2::text::xid for update skip locked)';

/** Records that these entries were published. Leaves out those that a worker or a new intent has changed since. */
export async function markAnnounced(
  sql: Sql,
  entryIds: readonly string[],
  admissionXid: string,
): Promise<void> {
  await sql.query(`update sync.entries set due_at = null where id = any(${stillAdmitted})`, [
    entryIds,
    admissionXid,
  ]);
}

/** Makes admitted entries due at once that could not be published. Leaves out those that have changed since. */
export async function releaseAdmitted(
  sql: Sql,
  entryIds: readonly string[],
  admissionXid: string,
): Promise<void> {
  await sql.query(
    `update sync.entries set due_at = now(), announced_at = null where id = any(${stillAdmitted})`,
    [entryIds, admissionXid],
  );
}
