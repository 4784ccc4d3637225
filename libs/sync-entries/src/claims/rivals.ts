import type { Sql, Tx } from '@secrets/db';
import { markUncertain } from '../sql-fragments.ts';

/**
 * Another destination's entry with the same external name in the same place, for types whose store does not show which
 * destination wrote a secret (docs/conventions/sync.md#ownership).
 */
export interface Rival {
  /** The destination's name; null if it is in another namespace. */
  destinationName: string | null;
  /** Whether the external secret is the rival's: it has begun to write it before this entry did. */
  isHolder: boolean;
  /** Whether the rival is to be kept. */
  isWanted: boolean;
}

/** SQL condition: destination `p` is another one that keeps its external secrets in the place of destination `d`. */
export const isInSamePlace =
  'p.type = d.type and p.place = d.place and p.id <> d.id and p.deleted_at is null';

/** SQL condition: the entry has written its external secret, or may have, in the scope that its destination has now. */
const hasWritten = (entry: string, destination: string): string =>
  `((${entry}.put_started_at is not null or ${entry}.remote is not null)
    and (${destination}.scope_confirmed_at > greatest(${entry}.synced_at, ${entry}.put_started_at)) is not true)`;

/** SQL of an order of the entries that have written one external secret. */
const turnOf = (entry: string): string => `(coalesce(${entry}.put_started_at, 'infinity'), ${entry}.id)`;

/** SQL of a query for the rival of entry `e` of destination `d`, the holder if there is one. Returns at most one row. */
export const rivalOf = `
  select case when p.namespace_id = d.namespace_id then p.name end as rival_name,
         not ${hasWritten('e', 'd')} or ${turnOf('o')} < ${turnOf('e')} as is_holder, o.desired = 'present' as is_wanted
    from sync.destinations p join sync.entries o on o.destination_id = p.id and o.collision_key = e.collision_key
   where ${isInSamePlace} and ${hasWritten('o', 'p')}
   order by is_holder desc, is_wanted desc limit 1`;

export interface RivalRow {
  rival_name: string | null;
  is_holder: boolean | null;
  is_wanted: boolean | null;
}

export const toRival = ({ rival_name, is_holder, is_wanted }: RivalRow): Rival | null =>
  is_holder === null
    ? null
    : { destinationName: rival_name, isHolder: is_holder, isWanted: is_wanted === true };

/**
 * Returns the rival of an entry, after it has locked the entry's external name until the transaction ends: of two entries
 * that begin to write the same external secret, the second one sees the first.
 */
export async function lockName(tx: Tx, entryId: string): Promise<Rival | null> {
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended('external name ' || d.type || ' ' || e.collision_key, 0))
       from sync.entries e join sync.destinations d on d.id = e.destination_id
      where e.id = $1 and d.place is not null`,
    [entryId],
  );
  // A statement of its own: its snapshot is newer than the lock.
  const [row] = await tx.query<RivalRow>(
    `select rival_name, is_holder, is_wanted
       from sync.entries e join sync.destinations d on d.id = e.destination_id cross join lateral (${rivalOf}) as rival
      where e.id = $1`,
    [entryId],
  );
  return row === undefined ? null : toRival(row);
}

/**
 * Makes the entries due that wait for these names of a destination's place, after the destination has given them up. They are
 * verified: what the external secrets hold may be the value of the former holder. Leaves out entries that a worker has or
 * another transaction has locked; those are retried later anyway.
 */
export async function wakeRivals(
  sql: Sql,
  destinationId: string,
  collisionKeys: readonly string[],
): Promise<void> {
  await sql.query(
    `update sync.entries set ${markUncertain}
      where id = any(array(
        select o.id from sync.destinations d join sync.destinations p on ${isInSamePlace}
          join sync.entries o on o.destination_id = p.id and o.collision_key = any($2::text[])
         where d.id = $1 and o.desired = 'present' and (o.fault = 'conflict' or o.remote is not null) and o.lease_owner is null
           for no key update of o skip locked))`,
    [destinationId, collisionKeys],
  );
}
