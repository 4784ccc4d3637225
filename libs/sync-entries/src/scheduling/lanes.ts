import { isDeepStrictEqual } from 'node:util';
import type { Db, Sql, Tx } from '@secrets/db';
import {
  afterReport,
  type Budget,
  type LaneReport,
  type LaneState,
  scopeOf,
  type WindowLimits,
} from '@secrets/scheduler';

/** The initial and the largest window of a lane. */
export const windowLimits: WindowLimits = { first: 2, max: 64 };

/** SQL condition: a call of the destination in a row of `sync.destination_health` hung a moment ago. */
export const isSlowNow = (alias: string): string => `coalesce(${alias}.slow_until > now(), false)`;

/** SQL: the `LaneState` in a row of `sync.lanes` or `sync.destination_health`, as JSON; null if there is no row. */
export const laneState = (alias: string): string =>
  `case when ${alias}.window_size is not null then json_build_object('window', ${alias}.window_size, 'threshold', ${alias}.threshold,
     'failures', ${alias}.failures, 'refusals', ${alias}.refusals, 'reason', ${alias}.reason,
     'pausedUntilMs', (extract(epoch from ${alias}.paused_until) * 1000)::float8) end`;

/** SQL: destination `destinationId` of lane `laneId` is paused, itself or with its lane. */
export const isPausedNow = (destinationId: string, laneId: string): string =>
  `(exists (select from sync.lanes l where l.id = ${laneId} and l.paused_until > now())
    or exists (select from sync.destination_health h where h.destination_id = ${destinationId} and h.paused_until > now()))`;

/** Returns the lane of an account; creates it if absent. `account` is a hash, so that the lanes do not reveal accounts. */
export async function ensureLane(sql: Sql, destinationType: string, account: string): Promise<string> {
  const [row] = await sql.query<{ id: string }>(
    `insert into sync.lanes (destination_type, account, window_size, threshold) values ($1, $2, $3, $4)
     on conflict (destination_type, account) do update set reason = sync.lanes.reason
     returning id`,
    [destinationType, account, windowLimits.first, windowLimits.max],
  );
  return row!.id;
}

/**
 * Ends the pause of a destination and of its lane, because an operator changed something or asked for it. The next call is a
 * probe. Does nothing if the lane was served within the last second: a script that sets many secrets must not send a probe for
 * each of them to a throttled account. After a change of the destination, a pause because of its credentials ends in any case:
 * the last attempt may have used the earlier ones. A probe that fails restores the pause without lengthening it. The entries that
 * the pause postponed become due: no more of them than the window let through before it. Call this before entries are locked.
 */
export async function liftPause(sql: Sql, destinationId: string, { isChanged = false } = {}): Promise<void> {
  const mayEnd = (row: string) =>
    `(l.served_at < now() - interval '1 second' or $2::boolean and ${row}.reason = 'unauthenticated')`;
  const ended = (row: string) => `paused_until = now(), failures = greatest(1, ${row}.failures - 1)`;
  const lanes = await sql.query(
    `update sync.lanes l set ${ended('l')}
      where id = (select lane_id from sync.destinations where id = $1) and paused_until > now()
        and ${mayEnd('l')}
      returning id`,
    [destinationId, isChanged],
  );
  const destinations = await sql.query(
    `update sync.destination_health h set ${ended('h')}
       from sync.destinations d join sync.lanes l on l.id = d.lane_id
      where h.destination_id = $1 and d.id = $1 and h.paused_until > now() and ${mayEnd('h')}
      returning h.destination_id`,
    [destinationId, isChanged],
  );
  if (lanes.length + destinations.length === 0) return;
  await sql.query(
    `update sync.entries set due_at = now(), next_attempt_at = null
      where id = any(array(select id from sync.entries
                    where destination_id = $1 and priority = 1 and due_at > now()
                      and fault in ('throttled', 'unavailable', 'unauthenticated')
                      and announced_at is null and lease_until is null
                    order by due_at limit 1000 for update skip locked))`,
    [destinationId],
  );
}

/** Returns for how many seconds a destination, or its account, is still paused because it was throttled; 0 if it is not. */
export async function throttledSeconds(sql: Sql, destinationId: string): Promise<number> {
  const [row] = await sql.query<{ seconds: number }>(
    `select coalesce(extract(epoch from greatest(
              case when l.reason = 'throttled' then l.paused_until end,
              case when h.reason = 'throttled' then h.paused_until end) - now()), 0)::float8 as seconds
       from sync.destinations d
       join sync.lanes l on l.id = d.lane_id
       left join sync.destination_health h on h.destination_id = d.id
      where d.id = $1`,
    [destinationId],
  );
  return Math.max(0, row?.seconds ?? 0);
}

/** SQL of the calls that a lane has now, of a burst of `$4` and with `$3` more per second. */
export const refilled = `least($4::float8, tokens + $3::float8 * greatest(0, extract(epoch from now() - greatest(refilled_at, 'epoch'))))`;

/** Calls of a budget that are left for other work. The only call of a small budget is not. */
export const keptCalls = ({ burst }: Budget, share: number): number => Math.min(burst * share, burst - 1);

interface SpareOptions {
  /** The share of the budget that is left for other work; default a half. */
  keptShare?: number;
  skipLocked?: boolean;
}

/**
 * Takes at most so many calls that can wait out of the budget of the destination's lane, as long as a share of the budget is left
 * for other work. Returns how many it has taken: with `skipLocked`, none if another transaction has locked the lane.
 */
export async function useSpareBudget(
  sql: Sql,
  destinationId: string,
  calls: number,
  budget: Budget,
  { keptShare = 1 / 2, skipLocked = false }: SpareOptions = {},
): Promise<number> {
  const taken = `floor(greatest(0, least($2::float8, ${refilled} - $5::float8)))`;
  const [row] = await sql.query<{ taken: number }>(
    `with lane as (
       select l.id, ${taken} as taken from sync.lanes l
        where l.id = (select lane_id from sync.destinations where id = $1) for no key update ${skipLocked ? 'skip locked' : ''})
     update sync.lanes set tokens = ${refilled} - lane.taken, refilled_at = now()
       from lane where sync.lanes.id = lane.id returning lane.taken`,
    [destinationId, calls, budget.perSecond, budget.burst, keptCalls(budget, keptShare)],
  );
  return row?.taken ?? 0;
}

/**
 * Takes calls that are not for entries out of the budget of the destination's lane. The budget may become negative; no entry is
 * admitted until it has recovered. Takes nothing and returns false while it is negative.
 */
export async function useBudget(
  sql: Sql,
  destinationId: string,
  calls: number,
  { perSecond, burst }: Budget,
): Promise<boolean> {
  const lanes = await sql.query(
    `update sync.lanes set tokens = ${refilled} - $2::float8, refilled_at = now()
      where id = (select lane_id from sync.destinations where id = $1) and ${refilled} >= 0
      returning id`,
    [destinationId, calls, perSecond, burst],
  );
  return lanes.length > 0;
}

/**
 * Returns calls that were taken and not made to the budget of the destination's lane.
 * @param burst the most that the budget may have; absent if the caller does not know it: whoever takes calls does
 */
export async function giveBackBudget(
  sql: Sql,
  destinationId: string,
  calls: number,
  { burst }: Pick<Budget, 'burst'> = { burst: Number.POSITIVE_INFINITY },
): Promise<void> {
  await sql.query(
    `update sync.lanes set tokens = least($3::float8, tokens + $2::float8)
      where id = (select lane_id from sync.destinations where id = $1)`,
    [destinationId, calls, burst],
  );
}

/** The IDs of a destination and of its lane. */
export interface LaneOfDestination {
  laneId: string;
  destinationId: string;
}

/** Records that a call of a destination hangs: for half a minute, it counts as unhealthy. */
export async function recordSlowDestination(sql: Sql, destinationId: string): Promise<void> {
  await sql.query(
    `insert into sync.destination_health (destination_id, destination_type, slow_until)
     select id, type, now() + interval '30 seconds' from sync.destinations where id = $1
     on conflict (destination_id) do update set slow_until = excluded.slow_until`,
    [destinationId],
  );
}

/** Report of a worker about a destination. */
type DestinationReport = Exclude<LaneReport, { kind: 'slowed' }>;

/** When a reported call began, as an age, so that the clocks of workers do not matter; and a number in [0, 1) for jitter. */
export interface ReportTiming {
  tookMs: number;
  random: number;
}

/**
 * Records a worker's report, and returns the seconds for which the destination and its lane are paused now. A success counts
 * for the lane and the destination, a fault for the destination only. A throttled call slows the lane down, and pauses it when
 * a second destination is throttled, because then the limit is that of the account. Writes only what changes: a report about a
 * healthy lane with a full window costs one read. A call that began before a pause ended is no probe: its success does not
 * reopen anything, and its fault does not pause it again.
 */
export function reportToLane(
  db: Db,
  { laneId, destinationId }: LaneOfDestination,
  report: DestinationReport,
  timing: ReportTiming,
): Promise<{ pausedForSeconds: number; lanePausedForSeconds: number }> {
  const isLaneConcerned = report.kind === 'succeeded' || scopeOf(report.fault) === 'lane';
  return db.transaction(async (tx) => {
    let lanePausedForSeconds = 0;
    if (isLaneConcerned) {
      const lane = { ...laneRow, id: laneId };
      const isShared =
        report.kind === 'succeeded' || (await isThrottledElsewhere(tx, { laneId, destinationId }));
      lanePausedForSeconds = await reportTo(tx, lane, isShared ? report : { kind: 'slowed' }, timing);
    }
    await ensureHealth(tx, destinationId);
    const pausedForSeconds = await reportTo(tx, { ...healthRow, id: destinationId }, report, timing);
    return { pausedForSeconds: Math.max(pausedForSeconds, lanePausedForSeconds), lanePausedForSeconds };
  });
}

/**
 * Whether the lane or another destination of it is throttled. Locks the lane, so that two destinations do not overlook each
 * other.
 */
async function isThrottledElsewhere(tx: Tx, { laneId, destinationId }: LaneOfDestination): Promise<boolean> {
  const [lane] = await tx.query<{ isThrottled: boolean }>(
    'select failures > 0 as "isThrottled" from sync.lanes where id = $1 for no key update',
    [laneId],
  );
  if (lane === undefined || lane.isThrottled) return true;
  const others = await tx.query(
    `select from sync.destinations d join sync.destination_health h on h.destination_id = d.id
      where d.lane_id = $1 and d.id <> $2 and h.reason = 'throttled' limit 1`,
    [laneId, destinationId],
  );
  return others.length > 0;
}

/** A row with a `LaneState`. */
interface StateRow {
  table: string;
  key: string;
  id: string;
  /** A further SQL assignment, which ends `slow_until` once there are no failures. */
  whenHealthy: string;
  isSlow: string;
}

const laneRow = { table: 'sync.lanes', key: 'id', whenHealthy: '', isSlow: 'false' };
const healthRow = {
  table: 'sync.destination_health',
  key: 'destination_id',
  whenHealthy: ', slow_until = case when $4 = 0 then null else slow_until end',
  isSlow: 'r.slow_until is not null',
};

async function ensureHealth(sql: Sql, destinationId: string): Promise<void> {
  await sql.query(
    `insert into sync.destination_health (destination_id, destination_type, window_size, threshold)
     select id, type, $2, $3 from sync.destinations d
      where id = $1 and not exists (select from sync.destination_health where destination_id = d.id)
     on conflict do nothing`,
    [destinationId, windowLimits.first, windowLimits.max],
  );
}

/** Returns for how many seconds the row is paused now; 0 if it was deleted in the meantime. */
async function reportTo(
  tx: Tx,
  { table, key, id, whenHealthy, isSlow }: StateRow,
  report: LaneReport,
  { tookMs, random }: ReportTiming,
): Promise<number> {
  const [row] = await tx.query<{ state: LaneState; nowMs: number; isSlow: boolean }>(
    `select ${laneState('r')} as state, (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs", ${isSlow} as "isSlow"
       from ${table} r where r.${key} = $1 for no key update`,
    [id],
  );
  if (row === undefined) return 0;
  const { state, nowMs } = row;
  const isLate = nowMs - tookMs < (state.pausedUntilMs ?? 0);
  if (isLate) return pauseOf(state, nowMs);
  const next = afterReport(state, report, { nowMs, max: windowLimits.max, random });
  if (isDeepStrictEqual(state, next) && !(row.isSlow && report.kind === 'succeeded'))
    return pauseOf(state, nowMs);
  await tx.query(
    `update ${table} set window_size = $2, threshold = $3, failures = $4, refusals = $5,
            paused_until = to_timestamp($6::float8 / 1000), reason = $7 ${whenHealthy}
      where ${key} = $1`,
    [id, next.window, next.threshold, next.failures, next.refusals, next.pausedUntilMs, next.reason],
  );
  return pauseOf(next, nowMs);
}

const pauseOf = ({ pausedUntilMs }: LaneState, nowMs: number): number =>
  Math.max(0, ((pausedUntilMs ?? 0) - nowMs) / 1_000);
