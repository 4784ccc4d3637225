import type { Sql } from '@secrets/db';
import { isLeased } from '../sql-fragments.ts';
import type { ClaimedEntry } from './claim-entries.ts';

/**
 * Ends the lease of a cancelled attempt `seconds` from now, unless it ends earlier, and returns whether the entry was still
 * claimed by it; the entry can then be claimed again. The attempt must not write anything after this.
 */
export async function shortenLease(
  sql: Sql,
  held: Pick<ClaimedEntry, 'id' | 'fence'>,
  seconds: number,
): Promise<boolean> {
  const rows = await sql.query(
    `update sync.entries
        set lease_until = least(lease_until, now() + $3 * interval '1 second'), due_at = least(lease_until, now() + $3 * interval '1 second')
      where id = $1 and fence = $2 and ${isLeased}
      returning id`,
    [held.id, held.fence, seconds],
  );
  return rows.length === 1;
}

/**
 * Undoes the claim of an entry for which nothing was called, if its lease still holds: the entry is due again at once, and its
 * call is returned to the budget of its lane, unless that is locked. A newer intent that arrived in the meantime did not see that
 * earlier attempts had failed; the value of the external secret is then uncertain, so the entry is verified.
 */
export async function releaseClaim(
  sql: Sql,
  held: Pick<ClaimedEntry, 'id' | 'fence' | 'generation' | 'attempts'>,
): Promise<void> {
  await sql.query(
    // Whoever locks a lane and its entries locks the lane first, so this must not wait for it.
    `with released as (
       update sync.entries
          set lease_owner = null, lease_until = null, due_at = now(), announced_at = null,
              attempts = case when generation = $3 then $4::int else 0 end,
              verify = verify or (generation > $3 and $4::int > 0),
              pushed_hash = case when generation = $3 or $4::int = 0 then pushed_hash end
        where id = $1 and fence = $2 and ${isLeased}
       returning destination_id)
     update sync.lanes set tokens = tokens + 1
      where id = any(array(
        select l.id from sync.lanes l
         where l.id = (select d.lane_id from released r join sync.destinations d on d.id = r.destination_id)
           for no key update skip locked))`,
    [held.id, held.fence, held.generation, held.attempts],
  );
}

/** SQL: a crash more doubles the pause of an entry. */
const pauseEnds = `now() + least(60, 0.5 * (2 ^ least(e.attempts - 1, 10) - 1)) * interval '1 second'`;

/**
 * Ends every lease. Only for the start of a process that runs alone: every holder of a lease is dead. Its call may have written
 * another value than the one last pushed, so the entry is verified. An entry that was in progress at several crashes in a row may
 * be their cause, so it waits longer each time, up to a minute.
 */
export async function endAllLeases(sql: Sql): Promise<void> {
  await sql.query(
    `update sync.entries e
        set lease_owner = null, lease_until = null, due_at = ${pauseEnds}, next_attempt_at = ${pauseEnds},
            verify = true, pushed_hash = null
      where e.id = any(array(
        select id from sync.entries
         where (announced_at is not null or lease_until is not null) and lease_until is not null order by destination_id))`,
  );
}
