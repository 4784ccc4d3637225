import type { Sql } from '@secrets/db';
import type { EntryMessage } from '@secrets/domain';
import { unachieved } from './sql-fragments.ts';

/** A batch of due entries that one relay has claimed. No other relay claims them until it is done or 5 s have passed. */
interface DueBatch {
  entries: { destinationType: string; message: EntryMessage }[];
  /**
   * `xmin` of the rows: the transaction that claimed them. Every later write changes it, so a row that still has it is
   * unchanged since the claim. A time would not do: another claim in the same millisecond, for a lease of the same
   * length, would look like this batch.
   */
  claimXid: string;
}

interface DueRow {
  id: string;
  destination_id: string;
  destination_type: string;
  claimXid: string;
}

/** Claims at most `limit` due entries, oldest first. Safe to run in several processes. */
export async function claimDueEntries(sql: Sql, limit: number): Promise<DueBatch> {
  const rows = await sql.query<DueRow>(
    `update sync.entries set due_at = now() + interval '5 seconds'
      where id in (select id from sync.entries where due_at <= now() order by due_at limit $1 for update skip locked)
      returning id, destination_id, destination_type, xmin::text as "claimXid"`,
    [limit],
  );
  return {
    entries: rows.map((row) => ({
      destinationType: row.destination_type,
      message: { entry_id: row.id, destination_id: row.destination_id },
    })),
    claimXid: rows[0]?.claimXid ?? '0',
  };
}

/**
 * SQL of an array of IDs: those of the entries `$1` that are unchanged since the claim `$2`. A locked row is about to
 * change and is left out: holding many rows while waiting for another risks a deadlock.
 */
const stillClaimed =
  'array(select id from sync.entries where id = any($1::uuid[]) and xmin = $2::text::xid for update skip locked)';

/** Records that these entries were published. Skips those that a worker or a new intent has changed since the claim. */
export async function markAnnounced(sql: Sql, entryIds: readonly string[], claimXid: string): Promise<void> {
  await sql.query(
    `update sync.entries set due_at = null, announced_at = now() where id = any(${stillClaimed})`,
    [entryIds, claimXid],
  );
}

/** Makes entries that could not be published due again immediately. Skips those that have changed since the claim. */
export async function releaseDueEntries(
  sql: Sql,
  entryIds: readonly string[],
  claimXid: string,
): Promise<void> {
  await sql.query(`update sync.entries set due_at = now() where id = any(${stillClaimed})`, [
    entryIds,
    claimXid,
  ]);
}

/**
 * Makes entries due again that were announced more than `olderThanSeconds` ago and never claimed. For messages that must
 * be lost: their queue is empty, or they are older than any message that waits in it. At most 1,000 at a time; returns
 * how many.
 */
export async function reviveLostEntries(
  sql: Sql,
  destinationType: string,
  olderThanSeconds: number,
): Promise<number> {
  const rows = await sql.query(
    `update sync.entries set due_at = now(), announced_at = null
      where id in (select id from sync.entries
                    where destination_type = $1 and announced_at < now() - $2 * interval '1 second'
                    order by announced_at limit 1000 for update skip locked)
      returning id`,
    [destinationType, olderThanSeconds],
  );
  return rows.length;
}

/**
 * Postpones an entry that was announced but cannot be processed now: until its retry, its lease or its destination's pause
 * ends, at least one second. An entry that waits for another one is postponed for as long again as it has waited since
 * its intent was recorded, at most five minutes: the other one may wait for the operator for weeks. Afterwards the
 * message about the entry may be acknowledged. An achieved entry is not announced again.
 */
export async function postponeEntry(sql: Sql, entryId: string, atLeastSeconds = 1): Promise<void> {
  await sql.query(
    `update sync.entries e
        set announced_at = null,
            due_at = case when e.applied_generation < e.generation then
              greatest(now() + $2 * interval '1 second', e.next_attempt_at, e.lease_until,
                (select h.paused_until from sync.destination_health h where h.destination_id = e.destination_id),
                (select now() + least(now() - e.updated_at, interval '5 minutes')
                   from sync.entries w where w.id = e.waits_for and ${unachieved})) end
      where e.id = $1 and (e.applied_generation < e.generation or e.announced_at is not null)`,
    [entryId, atLeastSeconds],
  );
}
