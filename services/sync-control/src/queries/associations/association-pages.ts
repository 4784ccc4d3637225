import type { PageRange, Sql } from '@secrets/db';
import { type AssociationRow, associationColumns } from './associations.ts';

/** The position before the first association. */
export const beforeFirst = '00000000-0000-0000-0000-000000000000';

/** Returns associations of a destination by ID, after the given one, or beginning with it if it has a sub-key. */
export const listAssociations = (
  sql: Sql,
  destinationId: string,
  { after, limit }: PageRange<{ associationId: string; subKey?: string } | undefined>,
): Promise<AssociationRow[]> =>
  sql.query<AssociationRow>(
    `select ${associationColumns} from sync.associations a
      where destination_id = $1 and id >= $2 and (id > $2 or $3) order by id limit $4`,
    [destinationId, after?.associationId ?? beforeFirst, after?.subKey !== undefined, limit],
  );

/** Returns these associations by ID. */
export const listAssociationsById = (sql: Sql, ids: readonly string[]): Promise<AssociationRow[]> =>
  sql.query<AssociationRow>(
    `select ${associationColumns} from sync.associations a where id = any($1::uuid[]) order by id`,
    [ids],
  );

/** Returns the IDs of a destination's associations, in order, after the given one, that have keys that cannot be synced. */
export async function listIdsWithUnnamedKeys(
  sql: Sql,
  destinationId: string,
  range: PageRange,
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select id from sync.associations
      where destination_id = $1 and unnamed_keys::text <> '[]' and id > $2 order by id limit $3`,
    [destinationId, range.after, range.limit],
  );
  return rows.map(({ id }) => id);
}

/** Returns associations of a destination by ID, after the given one, that are not being removed yet. */
export async function listSomeToRemove(sql: Sql, destinationId: string, range: PageRange): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'select id from sync.associations where destination_id = $1 and not removing and id > $2 order by id limit $3',
    [destinationId, range.after, range.limit],
  );
  return rows.map(({ id }) => id);
}

/**
 * Lists associations to remove like `listSomeToRemove`, optionally only the given ones, and locks their rows. Skips
 * rows that another transaction has locked.
 */
export async function lockSomeToRemove(
  sql: Sql,
  destinationId: string,
  associationIds: readonly string[] | null,
  range: PageRange,
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    `select id from sync.associations
      where destination_id = $1 and not removing and ${associationIds === null ? '$2::uuid[] is null' : 'id = any($2::uuid[])'}
        and id > $3 order by id limit $4 for update skip locked`,
    [destinationId, associationIds, range.after, range.limit],
  );
  return rows.map(({ id }) => id);
}

/** Returns associations of a destination by ID, after the given one, that are not being removed. */
export const listAssociationsToReplan = (
  sql: Sql,
  destinationId: string,
  range: PageRange,
): Promise<AssociationRow[]> =>
  sql.query<AssociationRow>(
    `select ${associationColumns} from sync.associations a
      where destination_id = $1 and not removing and id > $2 order by id limit $3`,
    [destinationId, range.after, range.limit],
  );

/** Returns the number of associations that `listAssociationsToReplan` would return, counted up to `limit`. */
export async function countToReplan(
  sql: Sql,
  destinationId: string,
  after: string,
  limit: number,
): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*) as count from (
       select from sync.associations where destination_id = $1 and not removing and id > $2 limit $3) as counted`,
    [destinationId, after, limit],
  );
  return row?.count ?? 0;
}

/** Deletes at most `limit` associations of a destination with their entries, and returns how many. */
export async function deleteSomeAssociations(
  sql: Sql,
  destinationId: string,
  limit: number,
): Promise<number> {
  const rows = await sql.query(
    `delete from sync.associations
      where id = any(array(select id from sync.associations where destination_id = $1 limit $2 for update skip locked))
      returning id`,
    [destinationId, limit],
  );
  return rows.length;
}
