import type { Sql } from '@secrets/db';
import {
  type Bucket,
  type Budget,
  effectiveWindow,
  initialLane,
  type LaneSnapshot,
  type LaneState,
  refill,
} from '@secrets/scheduler';
import { isOutstanding } from '../sql-fragments.ts';
import { isSlowNow, laneState, windowLimits } from './lanes.ts';
import { liveSlots } from './workers.ts';

interface DestinationRow extends Omit<SchedulerState, 'lanes'> {
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

/** Snapshot from which the scheduler of one type decides. */
export interface SchedulerState {
  lanes: ReadLane[];
  /** Changes with each admission; null before the first one. */
  turn: number | null;
  /** The time of the database, in milliseconds since 1970. */
  nowMs: number;
  /** Slots of all live workers of the type together. */
  slots: number;
}

/** A lane as it is now, its bucket after the refill, and when the pauses of its destinations end. */
export type ReadLane = LaneSnapshot & { bucket: Bucket; pauseEndsMs: readonly (number | null)[] };

/** SQL: destination `d` has a due entry of this priority; a single index lookup. */
const hasDueOf = (priority: number): string =>
  `exists (select from sync.entries e where e.destination_id = d.id and e.priority = ${priority} and e.due_at <= now())`;

/**
 * SQL: anything of type `$1` is due; a single index lookup. Ordered, or Postgres prefers a sequential scan when it expects that
 * many entries are due. `exists` would drop the order.
 */
const isAnythingDue = `(select true from sync.entries where destination_type = $1 and due_at <= now() order by due_at limit 1)`;

/**
 * SQL: each destination with waiting entries, and whether its first one is due. Jumps from one destination to the next in the
 * index, so the cost depends on the number of these destinations, not on that of their entries, nor on that of idle
 * destinations.
 */
const waitingDestinations = `
  (select destination_id, due_at <= now() as "isDue" from sync.entries where due_at is not null and ${isAnythingDue}
    order by destination_id, priority, due_at limit 1)
  union all
  select next.* from waiting w cross join lateral (
    select e.destination_id, e.due_at <= now() from sync.entries e
     where e.due_at is not null and e.destination_id > w.destination_id
     order by e.destination_id, e.priority, e.due_at limit 1) as next`;

/** SQL: how many entries of each destination are outstanding. The windows bound their number. */
const outstandingEntries = `
  select destination_id, count(*) as count from sync.entries e
   where (e.announced_at is not null or e.lease_until is not null) and ${isOutstanding} and ${isAnythingDue} group by destination_id`;

/**
 * Reads each lane of a type with those of its destinations that have something waiting or outstanding. Returns undefined if
 * nothing of the type is due, which costs one index lookup.
 */
export async function readLanes(
  sql: Sql,
  destinationType: string,
  budget: Budget,
): Promise<SchedulerState | undefined> {
  const rows = await sql.query<DestinationRow>(
    // The limits and the offset force one look-up by the primary key for each destination. A row security policy would not let
    // Postgres use the key for the expression that a full join returns.
    `with recursive waiting as (${waitingDestinations}), outstanding as materialized (${outstandingEntries})
     select (select turn from sync.scheduler_turns where destination_type = $1) as turn, ${liveSlots('$1')} as slots,
            (extract(epoch from now()) * 1000)::float8 as "nowMs",
            l.id as "laneId", ${laneState('l')} as lane, l.tokens,
            (extract(epoch from greatest(l.refilled_at, 'epoch')) * 1000)::float8 as "refilledAtMs",
            (extract(epoch from greatest(l.served_at, 'epoch')) * 1000)::float8 as "servedAtMs",
            d.id as "destinationId", ${laneState('h')} as health, ${isSlowNow('h')} as "isSlow",
            (extract(epoch from greatest(l.paused_until, h.paused_until)) * 1000)::float8 as "pausedUntilMs",
            coalesce(active.count, 0) as outstanding,
            coalesce(greatest(l.paused_until, h.paused_until), '-infinity') <= now()
              and ("isDue" or ${hasDueOf(1)} or ${hasDueOf(2)}) is true as "hasDue"
       from (select * from waiting full join outstanding using (destination_id) offset 0) as active
       cross join lateral (
         select id, lane_id from sync.destinations where id = active.destination_id and type = $1 and deleted_at is null limit 1) as d
       join sync.lanes l on l.id = d.lane_id
       left join sync.destination_health h on h.destination_id = d.id
      order by random()`, // a probe after a pause must not always be of the same destination
    [destinationType],
  );
  const [first] = rows;
  if (first === undefined) return undefined;
  const { turn, nowMs, slots } = first;
  const lanes = [...Map.groupBy(rows, ({ laneId }) => laneId).values()];
  return { turn, nowMs, slots, lanes: lanes.map((ofLane) => snapshotOf(ofLane, budget, nowMs)) };
}

function snapshotOf(rows: readonly DestinationRow[], budget: Budget, nowMs: number): ReadLane {
  const { laneId, lane, servedAtMs, ...first } = rows[0]!;
  const bucket = refill({ tokens: first.tokens, refilledAtMs: first.refilledAtMs }, budget, nowMs);
  return {
    id: laneId,
    window: effectiveWindow(lane, nowMs),
    maxOutstanding: budget.maxOutstanding ?? Number.POSITIVE_INFINITY,
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

/** Returns the milliseconds until the first of the current pauses ends; undefined if there is none. */
export function msUntilReopening(lanes: readonly ReadLane[], nowMs: number): number | undefined {
  const ends = lanes.flatMap(({ pauseEndsMs }) => pauseEndsMs).filter((end) => end !== null && end > nowMs);
  return ends.length === 0 ? undefined : Math.min(...(ends as number[])) - nowMs;
}
