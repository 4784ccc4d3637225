import type { Db, Sql } from '@secrets/db';
import type { FaultKind } from '@secrets/domain';
import { afterReport, type LaneReport, type LaneState, type WindowLimits } from '@secrets/scheduler';

/** The windows of lanes: what a new one starts with, and what it may grow to. */
export const windowLimits: WindowLimits = { first: 2, max: 64 };

export interface LaneRow {
  window: number;
  threshold: number;
  failures: number;
  pausedUntilMs: number | null;
  reason: FaultKind | null;
}

export const laneColumns = `l.window_size as window, l.threshold, l.failures,
  (extract(epoch from l.paused_until) * 1000)::float8 as "pausedUntilMs", l.reason`;

/**
 * Returns the lane of an account, which is created if absent. `account` is a hash: the lanes are not a list of who uses what.
 */
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
 * Ends the pause of a destination's lane: an operator has changed something, or asks for it. The next call is a probe, which decides
 * whether the lane reopens. One probe a second at most: a script that sets many secrets must not call a throttled account once for each. A probe that
 * fails restores the pause, and does not lengthen it: the store gave no further reason for that. The destination's entries that were postponed until the end of the pause are due too; at most as many as had
 * been called when it began. To be called before entries are locked.
 */
export async function liftPause(sql: Sql, destinationId: string): Promise<void> {
  const lifted = await sql.query(
    `update sync.lanes set paused_until = now(), failures = greatest(1, failures - 1)
      where id = (select lane_id from sync.destinations where id = $1) and paused_until > now()
        and served_at < now() - interval '1 second'
      returning id`,
    [destinationId],
  );
  if (lifted.length === 0) return;
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

/** Records that a call of a lane hangs: for half a minute, it counts as unhealthy. */
export async function recordSlowLane(sql: Sql, laneId: string): Promise<void> {
  await sql.query(`update sync.lanes set slow_until = now() + interval '30 seconds' where id = $1`, [laneId]);
}

/**
 * Records what a worker reports of a lane, and returns for how long it is paused now. Writes only what changes: a healthy lane with a full
 * window costs a read. `tookMs` is how long ago the reported call began, so that the clocks of workers do not matter. A call that began
 * before a pause ended is no probe: its success does not reopen the lane, and its fault does not pause it again.
 */
export function reportToLane(
  db: Db,
  laneId: string,
  report: LaneReport,
  { tookMs, random }: { tookMs: number; random: number },
): Promise<{ pausedForSeconds: number } | undefined> {
  return db.transaction(async (tx) => {
    const [row] = await tx.query<LaneRow & { nowMs: number; isSlow: boolean }>(
      `select ${laneColumns}, (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs",
              l.slow_until is not null as "isSlow"
         from sync.lanes l where l.id = $1 for no key update`,
      [laneId],
    );
    if (row === undefined) return undefined;
    const { nowMs, isSlow, ...lane } = row;
    const isLate = nowMs - tookMs < (lane.pausedUntilMs ?? 0);
    if (isLate) return pauseOf(lane, nowMs);
    const next = afterReport(lane, report, { nowMs, max: windowLimits.max, random });
    if (isEqual(lane, next) && !(isSlow && report.kind === 'succeeded')) return pauseOf(lane, nowMs);
    await tx.query(
      `update sync.lanes set window_size = $2, threshold = $3, failures = $4,
              paused_until = to_timestamp($5::float8 / 1000), reason = $6,
              slow_until = case when $4 = 0 then null else slow_until end
        where id = $1`,
      [laneId, next.window, next.threshold, next.failures, next.pausedUntilMs, next.reason],
    );
    return pauseOf(next, nowMs);
  });
}

const pauseOf = ({ pausedUntilMs }: LaneState, nowMs: number) => ({
  pausedForSeconds: Math.max(0, ((pausedUntilMs ?? 0) - nowMs) / 1_000),
});

const isEqual = (a: LaneState, b: LaneState): boolean =>
  a.window === b.window && a.failures === b.failures && a.pausedUntilMs === b.pausedUntilMs;
