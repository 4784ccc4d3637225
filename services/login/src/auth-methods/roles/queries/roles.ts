import type { PageRange, Sql } from '@secrets/db';
import type { HashedSettings } from '../../../queries/hashed-settings.ts';

/** A table with the roles of the mounts of a method. */
export type RoleTable = 'login.cloudb_roles' | 'login.jwt_roles' | 'login.kubernetes_roles';

/** The row of a role by its name, which is case-insensitive; its settings are not parsed. */
export async function findRole(
  sql: Sql,
  table: RoleTable,
  mountId: string,
  name: string,
): Promise<HashedSettings | undefined> {
  const rows = await sql.query<HashedSettings>(
    `select settings, row_hash as "rowHash" from ${table} where mount_id = $1 and name = $2`,
    [mountId, name.toLowerCase()],
  );
  return rows[0];
}

/** Up to `limit` names of roles, in order, after the given one. */
export async function listRoleNames(
  sql: Sql,
  table: RoleTable,
  mountId: string,
  { after, limit }: PageRange,
): Promise<string[]> {
  const text = `select name from ${table} where mount_id = $1 and name > $2 order by name limit $3`;
  return (await sql.query<{ name: string }>(text, [mountId, after, limit])).map(({ name }) => name);
}

export async function upsertRole(
  sql: Sql,
  table: RoleTable,
  mountId: string,
  { name, settings, rowHash }: HashedSettings & { name: string },
): Promise<void> {
  await sql.query(
    `insert into ${table} (mount_id, name, settings, row_hash) values ($1, $2, $3::jsonb, $4)
     on conflict (mount_id, name) do update set settings = excluded.settings, row_hash = excluded.row_hash, updated_at = now()`,
    [mountId, name.toLowerCase(), JSON.stringify(settings), rowHash],
  );
}

export async function deleteRoleRow(
  sql: Sql,
  table: RoleTable,
  mountId: string,
  name: string,
): Promise<void> {
  await sql.query(`delete from ${table} where mount_id = $1 and name = $2`, [mountId, name.toLowerCase()]);
}
