import type { Sql, Tx } from '@secrets/db';
import type { PushScope } from '@secrets/sync-entries';
import { isInSamePlace } from '@secrets/sync-entries';

/** A destination with work on it as a whole, which is done in pages in the background. */
export interface MarkedDestinationRow {
  id: string;
  isDeleted: boolean;
  isInPurge: boolean;
  isRetried: boolean;
  isPushed: boolean;
  isReplanned: boolean;
  purgeError: string | null;
  /** The last association of the last page of the purge that failed. */
  purgePosition: string;
  backgroundError: string | null;
}

/** Returns the destinations with unfinished work, the oldest work first. */
export const listMarkedDestinations = (sql: Sql): Promise<MarkedDestinationRow[]> =>
  sql.query(
    `select id, deleted_at is not null as "isDeleted", purge_initiated_at is not null as "isInPurge",
            retry_initiated_at is not null as "isRetried", push_initiated_at is not null as "isPushed",
            replan_initiated_at is not null as "isReplanned", purge_error as "purgeError",
            purge_position as "purgePosition", background_error as "backgroundError"
       from sync.destinations
      where deleted_at is not null or purge_initiated_at is not null or retry_initiated_at is not null
         or push_initiated_at is not null or replan_initiated_at is not null
      order by least(deleted_at, purge_initiated_at, retry_initiated_at, push_initiated_at, replan_initiated_at)`,
  );

/** Column that marks a destination for an operation in the background. */
type Mark = 'deleted_at' | 'purge_initiated_at' | 'retry_initiated_at' | 'push_initiated_at';

/**
 * Locks a destination and returns whether it still has the mark: what was read before the lock may have ended since. Also returns
 * false while another process works on the destination. Other transactions may refer to the row, but not change it. With
 * `toDelete`, they may not refer to it either.
 */
export async function lockMarked(
  tx: Tx,
  id: string,
  mark: Mark,
  { toDelete = false } = {},
): Promise<boolean> {
  const strength = toDelete ? 'update' : 'no key update';
  const rows = await tx.query(
    `select id from sync.destinations
      where id = $1 and ${mark} is not null
        and pg_try_advisory_xact_lock(hashtextextended('work on destination ' || id, 0)) for ${strength}`,
    [id],
  );
  return rows.length > 0;
}

/**
 * Marks a destination for deletion with everything in it. It no longer belongs to a namespace, so its name is free. The other
 * marks end, and a code-host application that it used can be deleted.
 */
export async function initiateDeletion(sql: Sql, id: string): Promise<void> {
  await sql.query(
    `update sync.destinations
        set deleted_at = now(), namespace_id = null, purge_initiated_at = null, purge_error = null, retry_initiated_at = null,
            push_initiated_at = null, replan_initiated_at = null, codehost_app_id = null
      where id = $1`,
    [id],
  );
}

/**
 * Marks a destination for a retry of the entries that wait for the operator and, with `all`, of those that would be retried
 * automatically. An unfinished retry of all remains one.
 */
export async function initiateRetry(sql: Sql, id: string, { all }: { all: boolean }): Promise<void> {
  // Not now(), which is the start of the transaction: an entry may have failed while it waited for the lock.
  await sql.query(
    `update sync.destinations
        set retry_initiated_at = clock_timestamp(), retry_all = retry_all or $2, background_error = null
      where id = $1`,
    [id, all],
  );
}

/**
 * Marks the other destinations of a destination's place for a retry of the entries that wait for the operator: some of them may
 * wait for names that the destination had there.
 */
export async function initiateRetryOfRivals(sql: Sql, id: string): Promise<void> {
  await sql.query(
    `update sync.destinations set retry_initiated_at = clock_timestamp(), background_error = null
      where id = any(array(select p.id from sync.destinations d join sync.destinations p on ${isInSamePlace}
                            where d.id = $1 and p.purge_initiated_at is null order by p.id for no key update of p))`,
    [id],
  );
}

/** Whether the retry of a destination includes all failed entries. */
export async function isRetryOfAll(sql: Sql, id: string): Promise<boolean> {
  const [row] = await sql.query<{ all: boolean }>(
    'select retry_all as "all" from sync.destinations where id = $1',
    [id],
  );
  return row?.all ?? false;
}

/** Records that nothing is left to be retried. */
export async function endRetry(sql: Sql, id: string): Promise<void> {
  await sql.query('update sync.destinations set retry_initiated_at = null, retry_all = false where id = $1', [
    id,
  ]);
}

/**
 * Marks a destination so that every external secret is pushed again, starting at its first entry. A push that has not ended
 * begins anew, and does what either of them was to do.
 */
export async function initiatePush(
  sql: Sql,
  id: string,
  { verify = false, overwrite = false }: Partial<PushScope> = {},
): Promise<void> {
  await sql.query(
    `update sync.destinations
        set push_initiated_at = now(), push_position = '', background_error = null,
            push_verifies = $2 or (push_verifies and push_initiated_at is not null),
            push_overwrites = $3 or (push_overwrites and push_initiated_at is not null)
      where id = $1`,
    [id, verify, overwrite],
  );
}

/** Returns the push that is in progress, with the collision key of the last entry that was pushed again. */
export async function readPush(sql: Sql, id: string): Promise<PushScope & { position: string }> {
  const [row] = await sql.query<PushScope & { position: string }>(
    `select push_position as position, push_verifies as verify, push_overwrites as overwrite
       from sync.destinations where id = $1`,
    [id],
  );
  return row!;
}

/** Records the last entry that was pushed again; null if no other one follows. */
export async function recordPushPosition(sql: Sql, id: string, position: string | null): Promise<void> {
  await sql.query(
    `update sync.destinations
        set push_position = coalesce($2, ''), push_initiated_at = case when $2::text is not null then push_initiated_at end
      where id = $1`,
    [id, position],
  );
}

/** Records why the last page of work on a destination failed; null if it succeeded. */
export async function recordBackgroundError(sql: Sql, id: string, error: string | null): Promise<void> {
  await sql.query(
    'update sync.destinations set background_error = $2 where id = $1 and background_error is distinct from $2',
    [id, error],
  );
}
