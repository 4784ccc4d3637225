import type { Sql } from '@secrets/db';
import { unachieved } from '../sql-fragments.ts';

/**
 * Postpones an entry that was announced but cannot be processed now: until its retry or its lease ends, at least one second. While its
 * lane is paused, it simply waits for the scheduler. An entry that waits for another one is postponed for as long again as it has
 * waited since its intent was recorded, at most five minutes: the other one may wait for the operator for weeks. Afterwards the
 * message about the entry may be acknowledged. An achieved entry is not announced again.
 */
export async function postponeEntry(sql: Sql, entryId: string, atLeastSeconds = 1): Promise<void> {
  await sql.query(
    `update sync.entries e
        set announced_at = null,
            due_at = case when e.applied_generation < e.generation then
              greatest(now() + $2 * interval '1 second', e.next_attempt_at, e.lease_until,
                (select now() + least(now() - e.updated_at, interval '5 minutes')
                   from sync.entries w where w.id = e.waits_for and ${unachieved})) end
      where e.id = $1 and (e.applied_generation < e.generation or e.announced_at is not null)`,
    [entryId, atLeastSeconds],
  );
}
