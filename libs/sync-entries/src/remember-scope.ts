import type { Sql } from '@secrets/db';

/**
 * Stores the provider's ID of the scope of a destination (its repository, project or account), unless one is stored. Returns the
 * stored ID; undefined if the destination no longer exists.
 */
export async function rememberScope(
  sql: Sql,
  destinationId: string,
  scopeId: string,
): Promise<string | undefined> {
  await sql.query('update sync.destinations set scope_id = $2 where id = $1 and scope_id is null', [
    destinationId,
    scopeId,
  ]);
  const [row] = await sql.query<{ scopeId: string }>(
    'select scope_id as "scopeId" from sync.destinations where id = $1',
    [destinationId],
  );
  return row?.scopeId;
}
