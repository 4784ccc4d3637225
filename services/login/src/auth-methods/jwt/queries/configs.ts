import type { Sql } from '@secrets/db';

/** The row of a configuration; its settings are not parsed. */
export async function findJwtConfig(sql: Sql, mountId: string): Promise<object | undefined> {
  const text = 'select settings from login.jwt_configs where mount_id = $1';
  return (await sql.query<{ settings: object }>(text, [mountId]))[0]?.settings;
}

export async function upsertJwtConfig(sql: Sql, mountId: string, settings: object): Promise<void> {
  await sql.query(
    `insert into login.jwt_configs (mount_id, settings) values ($1, $2::jsonb)
     on conflict (mount_id) do update set settings = excluded.settings, updated_at = now()`,
    [mountId, JSON.stringify(settings)],
  );
}
