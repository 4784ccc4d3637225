import type { Sql, Tx } from '@secrets/db';

/** Work on a whole destination that is done in pages in the background. */
export interface MarkedDestination {
  id: string;
  isDeleted: boolean;
  isInPurge: boolean;
  isRetried: boolean;
}

/** Returns the destinations with unfinished work, the oldest work first. */
export const markedDestinations = (sql: Sql): Promise<MarkedDestination[]> =>
  sql.query(
    `select id, deleted_at is not null as "isDeleted", purge_initiated_at is not null as "isInPurge",
            retry_initiated_at is not null as "isRetried"
       from sync.destinations
      where deleted_at is not null or purge_initiated_at is not null or retry_initiated_at is not null
      order by least(deleted_at, purge_initiated_at, retry_initiated_at)`,
  );

/** What a destination is marked for. */
type Mark = 'deleted_at' | 'purge_initiated_at' | 'retry_initiated_at';

/**
 * Locks a destination and returns whether it still has the mark: what was read before the lock may have ended since. Other
 * transactions may refer to the row, but not change it. With `toDelete`, they may not refer to it either.
 */
export async function lockMarked(
  tx: Tx,
  id: string,
  mark: Mark,
  { toDelete = false } = {},
): Promise<boolean> {
  const strength = toDelete ? 'update' : 'no key update';
  const rows = await tx.query(
    `select id from sync.destinations where id = $1 and ${mark} is not null for ${strength}`,
    [id],
  );
  return rows.length > 0;
}

/**
 * Marks a destination for deletion with everything in it. It no longer belongs to a namespace, so its name is free. The other
 * marks end.
 */
export async function initiateDeletion(sql: Sql, id: string): Promise<void> {
  await sql.query(
    `update sync.destinations
        set deleted_at = now(), namespace_id = null, purge_initiated_at = null, purge_error = null, retry_initiated_at = null
      where id = $1`,
    [id],
  );
}

/** Marks a destination for a retry of everything that has failed in it so far. */
export async function initiateRetry(sql: Sql, id: string): Promise<void> {
  // Not now(), which is the start of the transaction: an entry may have failed while it waited for the lock.
  await sql.query('update sync.destinations set retry_initiated_at = clock_timestamp() where id = $1', [id]);
}

/** Records that nothing is left to be retried. */
export async function endRetry(sql: Sql, id: string): Promise<void> {
  await sql.query('update sync.destinations set retry_initiated_at = null where id = $1', [id]);
}
