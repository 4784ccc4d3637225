import type { Sql } from '@secrets/db';
import { beforeFirst } from '../associations/association-pages.ts';

/** Lease of a process on one page. After it, another process takes over. */
const lease = `interval '1 minute'`;

/** Marks a destination so that every association is planned again, starting at the first one. */
export async function initiateReplan(sql: Sql, id: string): Promise<void> {
  await sql.query(
    `update sync.destinations
        set replan_initiated_at = clock_timestamp(), replan_position = $2, replan_refused = 0, replan_error = null,
            background_error = null
      where id = $1`,
    [id, beforeFirst],
  );
}

/** A page of a replan that a process may plan now. */
export interface ReplanLease {
  destinationId: string;
  /** Text, because a Date has no microseconds. */
  initiatedAt: string;
  /** The last association of the previous page. */
  position: string;
}

/** Takes the lease of a destination's replan. Returns undefined if it has ended, or another process has the lease. */
export async function claimReplan(sql: Sql, destinationId: string): Promise<ReplanLease | undefined> {
  const [row] = await sql.query<ReplanLease>(
    `update sync.destinations set replan_leased_until = now() + ${lease}
      where id = $1 and replan_initiated_at is not null and replan_leased_until <= now()
      returning id as "destinationId", replan_initiated_at::text as "initiatedAt", replan_position as position`,
    [destinationId],
  );
  return row;
}

/** Number of associations that a page of a replan did not change, and the reason for the last of them. */
export interface Refusals {
  refused: number;
  error: string | null;
}

/**
 * Ends the lease and records the last association that was planned again, or the end of the replan if `position` is null. If the
 * replan was started again in the meantime, it only ends the lease.
 */
export async function recordReplanned(
  sql: Sql,
  { destinationId, initiatedAt, position: before }: ReplanLease,
  position: string | null,
  { refused, error }: Refusals,
): Promise<void> {
  const rows = await sql.query(
    `update sync.destinations
        set replan_position = coalesce($4::uuid, $5::uuid), replan_initiated_at = case when $4::uuid is not null then replan_initiated_at end,
            replan_refused = replan_refused + $6, replan_error = coalesce($7, replan_error), replan_leased_until = '-infinity'
      where id = $1 and replan_initiated_at = $2::timestamptz and replan_position = $3::uuid
      returning id`,
    [destinationId, initiatedAt, before, position, beforeFirst, refused, error],
  );
  if (rows.length === 0) await releaseReplan(sql, destinationId);
}

/** Ends the lease, so that any process may plan the page. */
export async function releaseReplan(sql: Sql, destinationId: string): Promise<void> {
  await sql.query(`update sync.destinations set replan_leased_until = '-infinity' where id = $1`, [
    destinationId,
  ]);
}
