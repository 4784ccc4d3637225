import type { PageRange, Sql, Tx } from '@secrets/db';
import type { HashedSettings } from '../hashed-settings.ts';

/** The row of a role, whose settings may lack fields (`parseTokenRole`). */
export async function findTokenRole(
  sql: Sql,
  namespaceId: string,
  name: string,
): Promise<HashedSettings | undefined> {
  const text = `select settings, row_hash as "rowHash" from login.token_roles where namespace_id = $1 and name = $2`;
  return (await sql.query<HashedSettings>(text, [namespaceId, name]))[0];
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
  { settings, rowHash }: HashedSettings,
): Promise<void> {
  await tx.query(
    `insert into login.token_roles (namespace_id, name, settings, row_hash) values ($1, $2, $3::jsonb, $4)
     on conflict (namespace_id, name) do update set settings = excluded.settings, row_hash = excluded.row_hash, updated_at = now()`,
    [namespaceId, name, JSON.stringify(settings), rowHash],
  );
}

export async function deleteTokenRole(sql: Sql, namespaceId: string, name: string): Promise<void> {
  await sql.query('delete from login.token_roles where namespace_id = $1 and name = $2', [namespaceId, name]);
}
