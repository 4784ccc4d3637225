import type { PageRange, Sql, Tx } from '@secrets/db';

/** The settings in the row of a role, which may lack fields (`parseTokenRole`). */
export async function findTokenRole(
  sql: Sql,
  namespaceId: string,
  name: string,
): Promise<object | undefined> {
  const text = 'select settings from login.token_roles where namespace_id = $1 and name = $2';
  return (await sql.query<{ settings: object }>(text, [namespaceId, name]))[0]?.settings;
}

/** Up to `limit` names after the given one, in the order of their bytes. */
export async function listTokenRoleNames(
  sql: Sql,
  namespaceId: string,
  { after, limit }: PageRange,
): Promise<string[]> {
  const text = `select name from login.token_roles where namespace_id = $1 and name > $2 order by name limit $3`;
  return (await sql.query<{ name: string }>(text, [namespaceId, after, limit])).map(({ name }) => name);
}

export async function upsertTokenRole(
  tx: Tx,
  namespaceId: string,
  name: string,
  settings: object,
): Promise<void> {
  await tx.query(
    `insert into login.token_roles (namespace_id, name, settings) values ($1, $2, $3::jsonb)
     on conflict (namespace_id, name) do update set settings = excluded.settings, updated_at = now()`,
    [namespaceId, name, JSON.stringify(settings)],
  );
}

export async function deleteTokenRole(sql: Sql, namespaceId: string, name: string): Promise<void> {
  await sql.query('delete from login.token_roles where namespace_id = $1 and name = $2', [namespaceId, name]);
}
