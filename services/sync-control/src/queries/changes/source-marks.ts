import type { PageRange, Sql } from '@secrets/db';
import { beforeFirst } from '../associations/association-pages.ts';

/** An association whose secret or keys are gone. */
interface GoneSource {
  associationId: string;
  secretId: string;
  /** The number of its entries that the source no longer has. */
  removals: number;
}

/**
 * Marks associations whose entries are kept although their source is gone. An earlier mark keeps its time unless more entries are
 * affected now. Skips associations that are being removed or now belong to another secret.
 */
export async function markSourcesGone(sql: Sql, gone: readonly GoneSource[]): Promise<void> {
  await sql.query(
    `update sync.associations a
        set source_gone_at = case when source_removals < given.removals then clock_timestamp() else coalesce(source_gone_at, clock_timestamp()) end,
            source_removals = given.removals
       from unnest($1::uuid[], $2::uuid[], $3::int[]) as given (id, secret_id, removals)
      where a.id = given.id and a.secret_id = given.secret_id and not a.removing`,
    [
      gone.map(({ associationId }) => associationId),
      gone.map(({ secretId }) => secretId),
      gone.map(({ removals }) => removals),
    ],
  );
}

/** Locks associations in the order of their IDs. Lock these before the brake of their destination. */
export async function lockAssociations(sql: Sql, associationIds: readonly string[]): Promise<void> {
  await sql.query('select from sync.associations where id = any($1::uuid[]) order by id for update', [
    associationIds,
  ]);
}

/** Removes the marks of associations whose source has come back, or whose entries were removed. */
export async function clearSourceMarks(sql: Sql, associationIds: readonly string[]): Promise<void> {
  await sql.query(
    `update sync.associations set source_gone_at = null, source_removals = 0
      where id = any($1::uuid[]) and source_gone_at is not null`,
    [associationIds],
  );
}

/** SQL: the first destination with a mark that matches a condition. */
const nextMarked = (condition: string): string => `(
  select destination_id as id from sync.associations where source_gone_at is not null and ${condition}
   order by destination_id limit 1)`;

// Hops through the index from one destination to the next, however many marks each of them has. Not coalesce, which
// Postgres does not consider leakproof, so that it would not be looked up in the index.
const markedDestinations = `with recursive marked (id) as (
  ${nextMarked('true')}
  union all
  select next.id from marked cross join lateral ${nextMarked('destination_id > marked.id')} as next
)`;

/** Returns the destinations that have an unapproved mark or a hold. */
export async function listDestinationsToSettle(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `${markedDestinations}
     select id from marked left join sync.removal_brakes b on b.destination_id = id
      where exists (
        select from sync.associations
         where destination_id = marked.id
           and source_gone_at > case when b.approved_at is null then '-infinity' else b.approved_at end)
     union
     select destination_id from sync.removal_brakes where held_at is not null`,
  );
  return rows.map(({ id }) => id);
}

/** Time without another mark after which marks are decided on, and the longest time that they wait. */
const quiet = `interval '2 seconds'`;
const longestWait = `interval '20 seconds'`;

/** Returns destinations without a hold that have unapproved marks, none of them recent. */
export async function listDestinationsAtRest(sql: Sql): Promise<string[]> {
  const unapproved = (condition: string) => `exists (
    select from sync.associations
     where destination_id = marked.id and source_gone_at > case when b.approved_at is null then '-infinity' else b.approved_at end
       and ${condition})`;
  const rows = await sql.query<{ id: string }>(
    `${markedDestinations}
     select id from marked left join sync.removal_brakes b on b.destination_id = id
      where b.held_at is null and ${unapproved('true')}
        and (not ${unapproved(`source_gone_at > now() - ${quiet}`)} or ${unapproved(`source_gone_at < now() - ${longestWait}`)})`,
  );
  return rows.map(({ id }) => id);
}

/** A position among the marked associations of a destination. `goneAt` is text, because a Date has no microseconds. */
export interface MarkPosition {
  goneAt: string;
  id: string;
}

/** The position before the first marked association. */
export const beforeFirstMark: MarkPosition = { goneAt: '-infinity', id: beforeFirst };

/** Returns marked associations of a destination, the oldest mark first, whose removal was approved at `approvedAt`. */
export const listApprovedAssociations = (
  sql: Sql,
  destinationId: string,
  approvedAt: string,
  { after, limit }: PageRange<MarkPosition>,
): Promise<(MarkPosition & { secretId: string })[]> =>
  sql.query(
    `select id, secret_id as "secretId", source_gone_at::text as "goneAt" from sync.associations
      where destination_id = $1 and source_gone_at <= $2::timestamptz and (source_gone_at, id) > ($3::timestamptz, $4::uuid)
      order by source_gone_at, id limit $5`,
    [destinationId, approvedAt, after.goneAt, after.id, limit],
  );
