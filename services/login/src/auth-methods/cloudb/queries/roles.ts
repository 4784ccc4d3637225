import type { PageRange, Sql } from '@secrets/db';
import type { HashedSettings } from '../../../queries/hashed-settings.ts';

/** The row of a role by its name, which is case-insensitive; its settings are not parsed (`parseRole`). */
export async function findRole(sql: Sql, mountId: string, name: string): Promise<HashedSettings | undefined> {
  const rows = await sql.query<HashedSettings>(
    'select settings, row_hash as "rowHash" from login.cloudb_roles where mount_id = $1 and name = $2',
    [mountId, name.toLowerCase()],
  );
  return rows[0];
}

/** Up to `limit` names of roles, in order, after the given one. */
export async function listRoleNames(
  sql: Sql,
  mountId: string,
  { after, limit }: PageRange,
): Promise<string[]> {
  const text = 'select name from login.cloudb_roles where mount_id = $1 and name > $2 order by name limit $3';
  return (await sql.query<{ name: string }>(text, [mountId, after, limit])).map(({ name }) => name);
}

export async function upsertRole(
  sql: Sql,
  mountId: string,
  name: string,
  { settings, rowHash }: HashedSettings,
): Promise<void> {
  await sql.query(
    `insert into login.cloudb_roles (mount_id, name, settings, row_hash) values ($1, $2, $3::jsonb, $4)
     on conflict (mount_id, name) do update set settings = excluded.settings, row_hash = excluded.row_hash, updated_at = now()`,
    [mountId, name.toLowerCase(), JSON.stringify(settings), rowHash],
  );
}

export async function deleteRoleRow(sql: Sql, mountId: string, name: string): Promise<void> {
  await sql.query('delete from login.cloudb_roles where mount_id = $1 and name = $2', [
    mountId,
    name.toLowerCase(),
  ]);
}
