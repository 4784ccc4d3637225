import type { Sql } from '@secrets/db';
import { mustWait } from '../sql-fragments.ts';

/**
 * Postpones an entry that was announced but cannot be processed now: until its retry or its lease ends, at least one second.
 * While its lane is paused, it simply waits for the scheduler. An entry that waits for another one, which may itself wait for
 * the operator for weeks, is not announced until that one is achieved or deleted, which makes it due (`requeueWaiting`);
 * `last_error` says so. Afterwards the message about the entry may be acknowledged. An achieved entry is not announced again.
 */
export async function postponeEntry(sql: Sql, entryId: string, atLeastSeconds = 1): Promise<void> {
  await sql.query(
    // The lock excludes that the other entry is achieved before this statement is committed: nothing would make this one due.
    `with awaited as (
       select w.external_name as name from sync.entries e join sync.entries w on w.id = e.waits_for
        where e.id = $1 and e.applied_generation < e.generation and (e.lease_until is null or e.lease_until <= now())
          and ${mustWait} for share of w skip locked)
     update sync.entries e
        set announced_at = null,
            due_at = case when e.applied_generation < e.generation and not exists (select from awaited) then
              greatest(now() + $2 * interval '1 second', e.next_attempt_at, e.lease_until) end,
            last_error = coalesce((select 'waits until ' || name || ', which replaces it, is synced' from awaited), e.last_error)
      where e.id = $1 and (e.applied_generation < e.generation or e.announced_at is not null)`,
    [entryId, atLeastSeconds],
  );
}

/**
 * Makes entries due that wait for an entry that is achieved or gone, which happens only if an earlier version completes an entry
 * during an upgrade. At most 1,000 at a time; returns how many.
 */
export async function reviveParkedEntries(sql: Sql): Promise<number> {
  const rows = await sql.query(
    `update sync.entries set due_at = now(), last_error = null
      where id = any(array(select e.id from sync.entries e
                    where e.waits_for is not null and e.due_at is null and e.announced_at is null
                      and e.applied_generation < e.generation and e.lease_until is null
                      and not exists (select from sync.entries w where w.id = e.waits_for and ${mustWait})
                    limit 1000 for update skip locked))
      returning id`,
  );
  return rows.length;
}
