import type { Sql } from '@secrets/db';
import { beforeFirst } from './association-pages.ts';

/** An association whose secret or keys are gone. */
interface GoneSource {
  associationId: string;
  secretId: string;
  /** The number of its entries that the source no longer has. */
  removals: number;
}

/**
 * Marks associations whose entries are kept although their source is gone. An earlier mark keeps its time. Skips associations
 * that are being removed or now belong to another secret.
 */
export async function markSourcesGone(sql: Sql, gone: readonly GoneSource[]): Promise<void> {
  await sql.query(
    `update sync.associations a
        set source_gone_at = coalesce(source_gone_at, clock_timestamp()), source_removals = given.removals
       from unnest($1::uuid[], $2::uuid[], $3::int[]) as given (id, secret_id, removals)
      where a.id = given.id and a.secret_id = given.secret_id and not a.removing`,
    [
      gone.map(({ associationId }) => associationId),
      gone.map(({ secretId }) => secretId),
      gone.map(({ removals }) => removals),
    ],
  );
}

/** Removes the marks of associations whose source has come back, or has removed what was gone. */
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

/** Returns the destinations that have a mark without an approval, or a hold. */
export async function listDestinationsToSettle(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    // Hops through the index from one destination to the next, however many marks each of them has. Not coalesce, which
    // Postgres does not consider leakproof, so that it would not be looked up in the index.
    `with recursive marked (id) as (
       ${nextMarked('true')}
       union all
       select next.id from marked cross join lateral ${nextMarked('destination_id > marked.id')} as next
     )
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
  { after, limit }: { after: MarkPosition; limit: number },
): Promise<(MarkPosition & { secretId: string })[]> =>
  sql.query(
    `select id, secret_id as "secretId", source_gone_at::text as "goneAt" from sync.associations
      where destination_id = $1 and source_gone_at <= $2::timestamptz and (source_gone_at, id) > ($3::timestamptz, $4::uuid)
      order by source_gone_at, id limit $5`,
    [destinationId, approvedAt, after.goneAt, after.id, limit],
  );
