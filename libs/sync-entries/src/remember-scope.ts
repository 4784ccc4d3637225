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

/**
 * Stores the provider's IDs of members of a destination's scope that its settings name, except of those of which another one is
 * stored. Those of other names are forgotten. Returns the stored IDs; undefined if the destination no longer exists.
 */
export async function rememberScopeMembers(
  sql: Sql,
  destinationId: string,
  ids: Readonly<Record<string, string>>,
): Promise<Record<string, string> | undefined> {
  const [row] = await sql.query<{ members: Record<string, string> }>(
    `update sync.destinations d
        set scope_members = (select coalesce(jsonb_object_agg(seen.name, coalesce(d.scope_members ->> seen.name, seen.id)), '{}')
                               from jsonb_each_text($2::jsonb) as seen (name, id))
      where d.id = $1 returning d.scope_members as members`,
    [destinationId, JSON.stringify(ids)],
  );
  return row?.members;
}
