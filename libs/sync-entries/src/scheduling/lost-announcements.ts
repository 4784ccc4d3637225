import type { Sql } from '@secrets/db';

/** An entry that was announced and has not been claimed since. */
export interface Announcement {
  entryId: string;
  /** Whether its publication was recorded (`markAnnounced`). Otherwise, the entry becomes due by itself. */
  isRecorded: boolean;
  /** The time in full precision, which identifies the announcement. */
  announcedAt: string;
}

/**
 * Returns the announcements of a type whose messages were published, or are about to be, and that no worker has claimed yet, at
 * most `limit`, the oldest first. Their number is bounded by the windows of the lanes.
 */
export const announcedEntries = (sql: Sql, destinationType: string, limit: number): Promise<Announcement[]> =>
  sql.query(
    `select id as "entryId", announced_at::text as "announcedAt", due_at is null as "isRecorded" from sync.entries
      where destination_type = $1 and announced_at is not null and (due_at is null or due_at > now())
      order by announced_at limit $2`,
    [destinationType, limit],
  );

/**
 * Makes the entries of lost announcements due; returns how many. Leaves out those that were claimed or announced again in the
 * meantime, and those that another transaction has locked, because they are about to change.
 */
export async function reviveEntries(sql: Sql, lost: readonly Announcement[]): Promise<number> {
  const rows = await sql.query(
    `update sync.entries set due_at = now(), announced_at = null
      where id = any(array(
        select found.id from unnest($1::uuid[], $2::timestamptz[]) as lost (id, announced_at) cross join lateral (
          select e.id from sync.entries e
           where e.id = lost.id and e.announced_at = lost.announced_at and e.due_at is null
           limit 1 for update skip locked) as found))
      returning id`,
    [lost.map(({ entryId }) => entryId), lost.map(({ announcedAt }) => announcedAt)],
  );
  return rows.length;
}

/** Makes every announced entry due. Only for the start of a process that runs alone and has its queues in memory. */
export async function reviveAll(sql: Sql): Promise<void> {
  await sql.query(
    `update sync.entries set due_at = now(), announced_at = null
      where announced_at is not null and (due_at is null or due_at > now())`,
  );
}
