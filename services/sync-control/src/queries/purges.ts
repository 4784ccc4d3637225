import type { Sql } from '@secrets/db';

/** Returns the IDs of the destinations that are being purged, oldest purge first; at most 100. */
export async function destinationsInPurge(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'select id from sync.destinations where purge_initiated_at is not null order by purge_initiated_at limit 100',
  );
  return rows.map(({ id }) => id);
}

/** Starts a purge, or starts it again. */
export async function initiatePurge(sql: Sql, id: string): Promise<void> {
  await sql.query(
    'update sync.destinations set purge_initiated_at = now(), purge_error = null where id = $1',
    [id],
  );
}

/** Ends a purge that failed: the destination is in use again. */
export async function endPurge(sql: Sql, id: string): Promise<void> {
  await sql.query(
    'update sync.destinations set purge_initiated_at = null, purge_error = null where id = $1',
    [id],
  );
}

/** Records why a purge waits for the operator; null if it does not. */
export async function recordPurgeError(sql: Sql, id: string, error: string | null): Promise<void> {
  await sql.query('update sync.destinations set purge_error = $2 where id = $1', [id, error]);
}

/** Locks a destination until the transaction ends. */
export async function lockDestinationById(sql: Sql, id: string): Promise<void> {
  await sql.query('select id from sync.destinations where id = $1 for update', [id]);
}
