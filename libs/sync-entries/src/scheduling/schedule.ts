import type { Db, Sql, Tx } from '@secrets/db';
import type { EntryMessage } from '@secrets/domain';
import {
  type Admission,
  admit,
  type Bucket,
  type Budget,
  effectiveWindow,
  initialLane,
  type LaneSnapshot,
  type LaneState,
  refill,
} from '@secrets/scheduler';
import { laneState, windowLimits } from './lanes.ts';
import { countSlots } from './workers.ts';

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
    const [lock] = await tx.query<{ locked: boolean; nowMs: number }>(
      `select pg_try_advisory_xact_lock(hashtextextended('sync scheduler ' || $1, 0)) as locked,
              (extract(epoch from now()) * 1000)::float8 as "nowMs"`,
      [destinationType],
    );
    if (!lock?.locked) return { ...nothing, isBusy: true };
    if (!(await hasDue(tx, destinationType))) return nothing;
    const lanes = await readLanes(tx, destinationType, { budget, nowMs: lock.nowMs });
    const isBusy = lanes.some(
      ({ window, destinations }) => window > 0 && destinations.some(({ hasDue }) => hasDue),
    );
    const nextReopeningMs = reopeningOf(lanes, lock.nowMs);
    if (!isBusy) return { ...nothing, nextReopeningMs };
    const slots = await countSlots(tx, destinationType, slotsWithoutWorkers);
    const admission = await lockServed(tx, lanes, admit(lanes, { slots, queueFactor }));
    const rows = await markAdmitted(tx, admission);
    await recordServed(tx, lanes, rows);
    return {
      messages: rows.map(({ id, destination_id }) => ({ entry_id: id, destination_id })),
      admissionXid: rows[0]?.xid ?? '0',
      isBusy,
      nextReopeningMs,
    };
  });
}

/** Whether anything of a type is due: one look into an index, so that an idle type costs nothing. */
async function hasDue(sql: Sql, destinationType: string): Promise<boolean> {
  const rows = await sql.query(
    // Ordered, or Postgres prefers a sequential scan when it expects many rows.
    'select from sync.entries where destination_type = $1 and due_at <= now() order by due_at limit 1',
    [destinationType],
  );
  return rows.length > 0;
}

interface DestinationRow {
  laneId: string;
  lane: LaneState;
  tokens: number;
  refilledAtMs: number;
  servedAtMs: number;
  destinationId: string;
  /** Null if none of its calls was reported yet. */
  health: LaneState | null;
  /** When the later of both pauses ends, in milliseconds since 1970; null if neither was ever paused. */
  pausedUntilMs: number | null;
  isSlow: boolean;
  outstanding: number;
  hasDue: boolean;
}

type ReadLane = LaneSnapshot & { bucket: Bucket; pauseEndsMs: readonly (number | null)[] };

/** SQL: destination `d` has an entry of a priority that is due; one look into the index. */
const hasDueOf = (priority: number): string =>
  `exists (select from sync.entries e where e.destination_id = d.id and e.priority = ${priority} and e.due_at <= now())`;

/**
 * SQL: entry `e` is enqueued or in progress. Once it is due, it is neither: its scheduler or its worker died, or its message was lost, and it
 * must not keep itself out of the window. Nor is it while it only waits after a lease that has ended.
 */
const isOutstanding = `((e.announced_at is not null and (e.due_at is null or e.due_at > now())) or e.lease_until > now())`;

/** Reads each lane of a type with its destinations. The cost depends on the number of destinations, not of entries. */
async function readLanes(
  sql: Sql,
  destinationType: string,
  { budget, nowMs }: { budget: Budget; nowMs: number },
): Promise<ReadLane[]> {
  const rows = await sql.query<DestinationRow>(
    `select l.id as "laneId", ${laneState('l')} as lane, l.tokens,
            (extract(epoch from greatest(l.refilled_at, 'epoch')) * 1000)::float8 as "refilledAtMs",
            (extract(epoch from greatest(l.served_at, 'epoch')) * 1000)::float8 as "servedAtMs",
            d.id as "destinationId", ${laneState('h')} as health, coalesce(h.slow_until > now(), false) as "isSlow",
            (extract(epoch from greatest(l.paused_until, h.paused_until)) * 1000)::float8 as "pausedUntilMs",
            (select count(*) from (select from sync.entries e
               where e.destination_id = d.id and (e.announced_at is not null or e.lease_until is not null)
                 and ${isOutstanding} limit $2) as o) as outstanding,
            coalesce(greatest(l.paused_until, h.paused_until), '-infinity') <= now()
              and (${[0, 1, 2].map(hasDueOf).join(' or ')}) as "hasDue"
       from sync.destinations d join sync.lanes l on l.id = d.lane_id
       left join sync.destination_health h on h.destination_id = d.id
      where d.type = $1 and d.deleted_at is null
      order by random()`, // a probe after a pause must not always be of the same destination
    [destinationType, windowLimits.max * 2],
  );
  return [...Map.groupBy(rows, ({ laneId }) => laneId).values()].map((ofLane) =>
    snapshotOf(ofLane, budget, nowMs),
  );
}

function snapshotOf(rows: readonly DestinationRow[], budget: Budget, nowMs: number): ReadLane {
  const { laneId, lane, servedAtMs, ...first } = rows[0]!;
  const bucket = refill({ tokens: first.tokens, refilledAtMs: first.refilledAtMs }, budget, nowMs);
  return {
    id: laneId,
    window: effectiveWindow(lane, nowMs),
    isHealthy: lane.failures === 0,
    tokens: bucket.tokens,
    bucket,
    pauseEndsMs: rows.map(({ pausedUntilMs }) => pausedUntilMs),
    servedAtMs,
    destinations: rows.map(({ destinationId, outstanding, hasDue, isSlow, health }) => {
      const state = health ?? initialLane(windowLimits);
      const isHealthy = state.failures === 0 && !isSlow;
      return { id: destinationId, window: effectiveWindow(state, nowMs), outstanding, hasDue, isHealthy };
    }),
  };
}

/** How long until the first of the pauses ends that are in effect. */
function reopeningOf(lanes: readonly ReadLane[], nowMs: number): number | undefined {
  const ends = lanes.flatMap(({ pauseEndsMs }) => pauseEndsMs).filter((end) => end !== null && end > nowMs);
  return ends.length === 0 ? undefined : Math.min(...(ends as number[])) - nowMs;
}

/**
 * Locks the lanes that an admission serves, before any entry: whoever changes a lane and its entries locks them in this order too. Leaves out
 * lanes that are locked, because they are about to change, and those that were paused in the meantime: they have their turn in the next round.
 */
async function lockServed(tx: Tx, lanes: readonly ReadLane[], admission: Admission): Promise<Admission> {
  const served = lanes.filter(({ destinations }) => destinations.some(({ id }) => admission.has(id)));
  const rows = await tx.query<{ id: string }>(
    `select id from sync.lanes where id = any($1::uuid[]) and coalesce(paused_until, '-infinity') <= now()
      order by id for no key update skip locked`,
    [served.map(({ id }) => id)],
  );
  const locked = new Set(rows.map(({ id }) => id));
  const open = served.filter(({ id }) => locked.has(id)).flatMap(({ destinations }) => destinations);
  return new Map(open.flatMap(({ id }) => (admission.has(id) ? [[id, admission.get(id)!]] : [])));
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

/** Takes what was admitted out of the budgets of its lanes, and records their turns. */
async function recordServed(tx: Tx, lanes: readonly ReadLane[], rows: readonly AdmittedRow[]): Promise<void> {
  const counts = new Map<string, number>();
  for (const { destination_id: id } of rows) counts.set(id, (counts.get(id) ?? 0) + 1);
  const served = lanes
    .map((lane) => ({
      lane,
      count: lane.destinations.reduce((sum, { id }) => sum + (counts.get(id) ?? 0), 0),
    }))
    .filter(({ count }) => count > 0);
  if (served.length === 0) return;
  await tx.query(
    `update sync.lanes l set tokens = served.tokens, refilled_at = to_timestamp(served.refilled / 1000), served_at = now()
       from unnest($1::uuid[], $2::float8[], $3::float8[]) as served (id, tokens, refilled)
      where l.id = served.id`,
    [
      served.map(({ lane }) => lane.id),
      served.map(({ lane, count }) => lane.bucket.tokens - count),
      served.map(({ lane }) => lane.bucket.refilledAtMs),
    ],
  );
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
