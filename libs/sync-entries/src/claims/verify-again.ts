import type { Sql } from '@secrets/db';
import { markUncertain } from '../sql-fragments.ts';
import type { ClaimedEntry } from './claim-entries.ts';

/**
 * Marks entries for verification whose claim was lost: with the commits lost in a failover or a restore, or to another worker.
 * The earlier holder may have written to the external secret since, and nothing else in the database records that. Leaves out
 * entries whose outcome was recorded under this claim, and those that it still holds, which are verified when its lease ends.
 * Returns the IDs of those that another worker holds or another transaction has locked. They must be passed again, because the
 * outcome of that worker would hide the uncertainty.
 */
export async function verifyAgain(
  sql: Sql,
  claims: readonly Pick<ClaimedEntry, 'id' | 'fence'>[],
): Promise<Set<string>> {
  const rows = await sql.query<{ id: string }>(
    // The limit forces one lookup by primary key for each entry, whatever the statistics of the tables suggest.
    `with lost as materialized (
       select found.id from unnest($1::uuid[], $2::bigint[]) as held (id, fence) cross join lateral (
         select e.id from sync.entries e where e.id = held.id and e.fence <> held.fence limit 1) as found),
     marked as (
       update sync.entries set ${markUncertain}
        where id = any(array(
          select e.id from sync.entries e
           where e.id = any((select array_agg(id) from lost)::uuid[]) and e.lease_owner is null order by e.id for no key update skip locked))
       returning id)
     select id from lost where id <> all(array(select id from marked))`,
    [claims.map(({ id }) => id), claims.map(({ fence }) => fence)],
  );
  return new Set(rows.map(({ id }) => id));
}
