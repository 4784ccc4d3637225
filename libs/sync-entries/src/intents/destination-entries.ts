import type { Sql } from '@secrets/db';
import { wakeRivals } from '../claims/rivals.ts';
import { allPriorities, newIntent } from './record-intents.ts';

/**
 * Kind of failed entries: `waiting` for the operator, those of them that were `refused`, not changed by somebody else, or
 * `postponed` until an automatic retry.
 */
export type FailedKind = 'waiting' | 'refused' | 'postponed';

const isFailed: Readonly<Record<FailedKind, string>> = {
  waiting: `status = 'CLIENT_SIDE_ERROR'`,
  refused: `status = 'CLIENT_SIDE_ERROR' and (fault is not null or drift is null or drift = 'none')`, // verbatim as in the index `entries_refused`
  postponed: `status in ('EXTERNAL_SERVICE_ERROR', 'INTERNAL_SERVICE_ERROR')`,
};

/**
 * SQL condition: an entry of the destination `$1` that failed before its retry was requested. A later failure is not part of
 * it.
 */
const failedBeforeRetry = (which: FailedKind): string => `destination_id = $1 and ${isFailed[which]}
  and updated_at <= (select retry_initiated_at from sync.destinations where id = $1)`;

/**
 * Retries at most `limit` entries of a destination that failed before its retry was requested.
 * Leaves out entries that another transaction has locked.
 */
export async function retryFailed(
  sql: Sql,
  destinationId: string,
  limit: number,
  which: FailedKind = 'waiting',
): Promise<void> {
  await sql.query(
    `update sync.entries set ${newIntent('retry')}
      where id = any(array(select id from sync.entries where ${failedBeforeRetry(which)} order by updated_at limit $2 for update skip locked))
        and ${isFailed[which]}`,
    [destinationId, limit],
  );
}

/** Returns the number of entries that `retryFailed` has yet to retry, counted up to `limit`. */
export async function countFailedBeforeRetry(
  sql: Sql,
  destinationId: string,
  limit: number,
  which: FailedKind = 'waiting',
): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*) as count from (select from sync.entries where ${failedBeforeRetry(which)} limit $2) as counted`,
    [destinationId, limit],
  );
  return row?.count ?? 0;
}

/** Options for pushing the entries of a destination again. */
export interface PushScope {
  /** Whether every external secret is read and compared, also of entries that wait or have failed. */
  verify: boolean;
  /** Whether foreign external secrets are replaced. */
  overwrite: boolean;
}

/**
 * Pushes again those of the next `limit` entries after the collision key `after` that were pushed, or are being pushed, with
 * earlier settings; with `verify`, all of them. The others will be pushed with the current settings anyway. Returns the
 * collision key of the last one; null if no other one follows.
 */
export async function pushSomeAgain(
  sql: Sql,
  destinationId: string,
  after: string,
  limit: number,
  { verify, overwrite }: PushScope,
): Promise<string | null> {
  const page = await sql.query<{ id: string; collisionKey: string }>(
    `select id, collision_key as "collisionKey" from sync.entries
      where destination_id = $1 and collision_key > $2 order by collision_key limit $3`,
    [destinationId, after, limit],
  );
  await sql.query(
    `update sync.entries set overwrite = overwrite or $3, ${newIntent('background', '$2')}
      where id = any(array(select id from sync.entries
                    where id = any($1::uuid[]) and desired = 'present' and ($2 or status = 'SYNCED' or lease_until is not null)
                    order by id for no key update))`,
    [page.map(({ id }) => id), verify, overwrite],
  );
  return page.length === limit ? page.at(-1)!.collisionKey : null;
}

/** Returns the number of entries that `pushSomeAgain` has yet to look at, counted up to `limit`. */
export async function countToPush(
  sql: Sql,
  destinationId: string,
  after: string,
  limit: number,
): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*) as count from (
       select from sync.entries where destination_id = $1 and collision_key > $2 limit $3) as counted`,
    [destinationId, after, limit],
  );
  return row?.count ?? 0;
}

/** Returns the number of entries of a destination that are due now, counted up to `limit`. */
export async function countDue(sql: Sql, destinationId: string, limit: number): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*) as count from (
       select from sync.entries where destination_id = $1 and due_at <= now() limit $2) as counted`,
    [destinationId, limit],
  );
  return row?.count ?? 0;
}

/** Number of due entries of each priority that are searched for entries to push. */
const lookedThrough = 400;

/**
 * Returns at most `limit` associations of a destination that have an entry due to be pushed, earliest first within each priority.
 * Searches each priority separately: retries would never be found behind a long queue of removals.
 */
export async function associationsDueToPush(
  sql: Sql,
  destinationId: string,
  limit: number,
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select distinct due.association_id as id
       from unnest($3::smallint[]) as each (priority),
            lateral (select association_id, desired from sync.entries e
                      where destination_id = $1 and e.priority = each.priority and due_at <= now()
                      order by due_at limit ${lookedThrough}) as due
      where due.desired = 'present' limit $2`,
    [destinationId, limit, allPriorities],
  );
  return rows.map(({ id }) => id);
}

/**
 * Deletes at most `limit` entries of a destination without any work for a worker, and returns how many. Leaves out entries
 * that another transaction has locked. Wakes the entries of other destinations that wait for the names.
 */
export async function deleteSomeEntries(sql: Sql, destinationId: string, limit: number): Promise<number> {
  const rows = await sql.query<{ key: string }>(
    `delete from sync.entries
      where id = any(array(select id from sync.entries where destination_id = $1 limit $2 for update skip locked))
      returning collision_key as key`,
    [destinationId, limit],
  );
  const keys = rows.map(({ key }) => key);
  await wakeRivals(sql, destinationId, keys);
  return rows.length;
}

/** Returns the number of entries of a destination. The cost grows with it. */
export async function countEntries(sql: Sql, destinationId: string): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    'select count(*) as count from sync.entries where destination_id = $1',
    [destinationId],
  );
  return row?.count ?? 0;
}

/** Returns the number of external secrets that a destination should have, counted up to `limit`. */
export async function countWanted(sql: Sql, destinationId: string, limit: number): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*) as count from (
       select from sync.entries where destination_id = $1 and desired = 'present' limit $2) as counted`,
    [destinationId, limit],
  );
  return row?.count ?? 0;
}

/** Returns the number of entries with `desired` present of each of these associations; those without any are left out. */
export async function countPresent(
  sql: Sql,
  associationIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await sql.query<{ id: string; count: number }>(
    `select association_id as id, count(*) as count from sync.entries
      where association_id = any($1::uuid[]) and desired = 'present' group by association_id`,
    [associationIds],
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}

/** Returns the error of a removal of this destination that waits for the operator; null if there is none. */
export async function removalError(sql: Sql, destinationId: string): Promise<string | null> {
  const [row] = await sql.query<{ error: string | null }>(
    `select last_error as error from sync.entries
      where destination_id = $1 and desired = 'absent' and status = 'CLIENT_SIDE_ERROR' limit 1`,
    [destinationId],
  );
  return row?.error ?? null;
}
