import type { Sql } from '@secrets/db';

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

/** Returns the destinations that have a mark without an approval, or a hold. */
export async function destinationsToSettle(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select distinct a.destination_id as id from sync.associations a
       left join sync.removal_brakes b on b.destination_id = a.destination_id
      where a.source_gone_at is not null and a.source_gone_at > coalesce(b.approved_at, '-infinity')
     union
     select destination_id from sync.removal_brakes where held_at is not null`,
  );
  return rows.map(({ id }) => id);
}

/** Returns marked associations of a destination by ID, after the given one, whose removal was approved at `approvedAt`. */
export const approvedAssociations = (
  sql: Sql,
  destinationId: string,
  approvedAt: string,
  after: string,
  limit: number,
): Promise<{ id: string; secretId: string }[]> =>
  sql.query(
    `select id, secret_id as "secretId" from sync.associations
      where destination_id = $1 and source_gone_at is not null and source_gone_at <= $2::timestamptz and id > $3
      order by id limit $4`,
    [destinationId, approvedAt, after, limit],
  );
