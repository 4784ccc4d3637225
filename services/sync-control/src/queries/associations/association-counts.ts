import type { Sql } from '@secrets/db';
import { ofExistingDestination } from './associations.ts';

/** Returns the number of associations of a destination, counted up to `limit`. */
export async function countAssociations(sql: Sql, destinationId: string, limit: number): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    'select count(*) as count from (select from sync.associations where destination_id = $1 limit $2) as counted',
    [destinationId, limit],
  );
  return row?.count ?? 0;
}

/**
 * Returns the number of associations of each of these destinations that have keys that cannot be synced, counted up to
 * `limit`.
 */
export async function countWithUnnamedKeys(
  sql: Sql,
  destinationIds: readonly string[],
  limit: number,
): Promise<Map<string, number>> {
  const rows = await sql.query<{ id: string; count: number }>(
    `select d.id, found.count from unnest($1::uuid[]) as d (id) cross join lateral (
       select count(*) as count from (
         select from sync.associations a where a.destination_id = d.id and a.unnamed_keys::text <> '[]' limit $2) as counted) as found`,
    [destinationIds, limit],
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}

/**
 * Returns the numbers of associations and of associated secrets of a namespace, among its first `limit` associations in
 * the order of the list. The limit bounds the cost.
 */
export async function countAssociatedSecrets(
  sql: Sql,
  namespaceId: string,
  limit: number,
): Promise<{ associations: number; secrets: number }> {
  const [row] = await sql.query<{ associations: number; secrets: number }>(
    `select coalesce(sum(associations), 0)::bigint as associations, count(*) as secrets
       from (select count(*) as associations
               from (select mount, secret_name from sync.associations
                      where namespace_id = $1 and ${ofExistingDestination} order by mount, secret_name limit $2) as counted
              group by mount, secret_name) as of_secrets`,
    [namespaceId, limit],
  );
  return row ?? { associations: 0, secrets: 0 };
}
