import type { Sql, Tx } from '@secrets/db';

/** Removals from a destination that deleted secrets and keys have caused in the current window. */
export interface BrakeRow {
  removed: number;
  /** The entries of the destination, if they were counted in this window. */
  entries: number | null;
  isHeld: boolean;
  /** Whether a round of the reconciliation has marked some of its associations and is not finished. */
  isCounting: boolean;
}

/** Length of the window in which removals are counted. */
const windowLength = `interval '1 hour'`;

/** Returns the brake of a destination and locks its row. Starts a new window if the current one has ended. */
export async function lockBrake(tx: Tx, destinationId: string): Promise<BrakeRow> {
  const isOver = `b.window_started_at < now() - ${windowLength}`;
  const [brake] = await tx.query<BrakeRow>(
    `insert into sync.removal_brakes as b (destination_id) values ($1)
     on conflict (destination_id) do update
       set removed = case when ${isOver} then 0 else b.removed end,
           entries = case when ${isOver} then null else b.entries end,
           window_started_at = case when ${isOver} then now() else b.window_started_at end
     returning removed, entries, held_at is not null as "isHeld", is_counting as "isCounting"`,
    [destinationId],
  );
  return brake!;
}

/** Records that the marks of a destination are incomplete until the end of the round of the reconciliation. */
export async function beginCounting(sql: Sql, destinationId: string): Promise<void> {
  await sql.query(
    'update sync.removal_brakes set is_counting = true where destination_id = $1 and not is_counting',
    [destinationId],
  );
}

export async function endCounting(sql: Sql, destinationId: string): Promise<void> {
  await sql.query(
    'update sync.removal_brakes set is_counting = false where destination_id = $1 and is_counting',
    [destinationId],
  );
}

export async function recordEntryCount(sql: Sql, destinationId: string, entries: number): Promise<void> {
  await sql.query('update sync.removal_brakes set entries = $2 where destination_id = $1', [
    destinationId,
    entries,
  ]);
}

export async function recordRemoved(sql: Sql, destinationId: string, removals: number): Promise<void> {
  await sql.query('update sync.removal_brakes set removed = removed + $2 where destination_id = $1', [
    destinationId,
    removals,
  ]);
}

/** Holds further removals until the operator confirms them. Returns type and name of the destination. */
export async function holdRemovals(sql: Sql, destinationId: string): Promise<{ type: string; name: string }> {
  const [row] = await sql.query<{ type: string; name: string }>(
    `update sync.removal_brakes b set held_at = now() from sync.destinations d
      where b.destination_id = $1 and d.id = $1 returning d.type, d.name`,
    [destinationId],
  );
  return row!;
}

/** Ends a hold without removing anything: the sources have come back. */
export async function releaseHold(sql: Sql, destinationId: string): Promise<void> {
  await sql.query('update sync.removal_brakes set held_at = null where destination_id = $1', [destinationId]);
}

/** Approves the removal of entries that were marked by `until`, which is text, because a Date has no microseconds. */
export async function approveRemovals(sql: Sql, destinationId: string, until: string): Promise<void> {
  await sql.query(
    'update sync.removal_brakes set approved_at = $2::timestamptz, held_at = null where destination_id = $1',
    [destinationId, until],
  );
}

/** Returns whether the removal of this many entries of an association is approved. */
export async function isRemovalApproved(sql: Sql, associationId: string, removals: number): Promise<boolean> {
  const rows = await sql.query(
    `select a.id from sync.associations a join sync.removal_brakes b on b.destination_id = a.destination_id
      where a.id = $1 and a.source_gone_at <= b.approved_at and a.source_removals >= $2`,
    [associationId, removals],
  );
  return rows.length > 0;
}

/** Approves the removals of a destination if they are held, and starts a new window. Returns whether they were held. */
export async function approveRemovalsIfHeld(sql: Sql, destinationId: string): Promise<boolean> {
  const rows = await sql.query(
    `update sync.removal_brakes
        set approved_at = clock_timestamp(), held_at = null, window_started_at = now(), removed = 0, entries = null
      where destination_id = $1 and held_at is not null returning destination_id`,
    [destinationId],
  );
  return rows.length > 0;
}

/** Ends the approval of a destination once its removals are done. */
export async function endApproval(sql: Sql, destinationId: string, approvedAt: string): Promise<void> {
  await sql.query(
    'update sync.removal_brakes set approved_at = null where destination_id = $1 and approved_at = $2::timestamptz',
    [destinationId, approvedAt],
  );
}

/** Returns the destinations with an approval. `approvedAt` is text, because a Date has no microseconds. */
export const listApprovedDestinations = (sql: Sql): Promise<{ id: string; approvedAt: string }[]> =>
  sql.query(
    `select destination_id as id, approved_at::text as "approvedAt" from sync.removal_brakes
      where approved_at is not null order by approved_at`,
  );

export interface HeldRemovals {
  heldAt: Date;
  /** Entries whose secret or key is gone. */
  entries: number;
}

/** Returns the held removals of a destination; undefined if there are none. */
export async function findHeldRemovals(sql: Sql, destinationId: string): Promise<HeldRemovals | undefined> {
  const [row] = await sql.query<{ heldAt: Date }>(
    'select held_at as "heldAt" from sync.removal_brakes where destination_id = $1 and held_at is not null',
    [destinationId],
  );
  return row && { heldAt: row.heldAt, entries: (await countMarked(sql, destinationId)).removals };
}

/**
 * Returns the held removals, like `findHeldRemovals`, of several destinations; those that hold none are left out. Adds
 * up at most `limit` associations of each.
 */
export const listHeldRemovals = (
  sql: Sql,
  destinationIds: readonly string[],
  limit: number,
): Promise<(HeldRemovals & { destinationId: string })[]> =>
  sql.query(
    // `offset 0` keeps `since` from becoming an expression, which row-level security would not compare before it has
    // checked each row.
    `select b.destination_id as "destinationId", b.held_at as "heldAt", marked.entries
       from (select *, coalesce(approved_at, '-infinity') as since from sync.removal_brakes
              where destination_id = any($1::uuid[]) and held_at is not null offset 0) as b
      cross join lateral (
         select coalesce(sum(source_removals), 0)::bigint as entries from (
           select source_removals from sync.associations a
            where a.destination_id = b.destination_id and a.source_gone_at is not null
              and a.source_gone_at > b.since
            order by a.source_gone_at limit $2) as counted) as marked`,
    [destinationIds, limit],
  );

/** Returns the number of destinations in which removals are held. */
export async function countHeld(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*) as count from sync.removal_brakes b
      where held_at is not null and (select d.deleted_at is null from sync.destinations d where d.id = b.destination_id)`,
  );
  return row?.count ?? 0;
}

/** Entries of a destination whose source is gone, and whose removal is not approved. */
export interface MarkedEntries {
  removals: number;
  /** When the last of them was marked, as text; null if there is none. */
  until: string | null;
}

/** Counts the entries of a destination whose source is gone and whose removal is not approved. */
export async function countMarked(sql: Sql, destinationId: string): Promise<MarkedEntries> {
  const [row] = await sql.query<MarkedEntries>(
    `select coalesce(sum(source_removals), 0)::bigint as removals, max(source_gone_at)::text as until from sync.associations
      where destination_id = $1 and source_gone_at is not null
        and source_gone_at > (
          select coalesce(max(approved_at), '-infinity') from sync.removal_brakes where destination_id = $1)`,
    [destinationId],
  );
  return row ?? { removals: 0, until: null };
}
