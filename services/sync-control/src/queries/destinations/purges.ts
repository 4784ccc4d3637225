import type { Sql } from '@secrets/db';
import { beforeFirst } from '../associations/association-pages.ts';

/**
 * Starts a purge, or restarts it; the last request decides whether external secrets are kept. Ends a push and a replan of the
 * destination.
 */
export async function initiatePurge(sql: Sql, id: string, { keep }: { keep: boolean }): Promise<void> {
  await sql.query(
    `update sync.destinations
        set purge_initiated_at = now(), purge_keeps = $3, purge_error = null, purge_position = $2, background_error = null, push_initiated_at = null,
            replan_initiated_at = null
      where id = $1`,
    [id, beforeFirst, keep],
  );
}

/** Ends a purge that failed: the destination is in use again. What was to be removed still is, or is kept, as the purge says. */
export async function endPurge(sql: Sql, id: string): Promise<void> {
  await sql.query(
    `update sync.destinations
        set purge_initiated_at = null, purge_error = null, purge_ended_at = clock_timestamp() where id = $1`,
    [id],
  );
}

/** Records after which association the next page of a purge begins. */
export async function recordPurgePosition(sql: Sql, id: string, position: string): Promise<void> {
  await sql.query(
    'update sync.destinations set purge_position = $2 where id = $1 and purge_position is distinct from $2',
    [id, position],
  );
}

/** Records why a purge waits for the operator; null if it does not, for example while a failure is retried. */
export async function recordPurgeError(sql: Sql, id: string, error: string | null): Promise<void> {
  await sql.query(
    `update sync.destinations set purge_error = $2
      where id = $1 and retry_initiated_at is null and purge_error is distinct from $2`,
    [id, error],
  );
}
