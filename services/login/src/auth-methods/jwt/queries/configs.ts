import type { Sql } from '@secrets/db';

/** The row of a configuration; its settings are not parsed. */
export async function findJwtConfig(sql: Sql, mountId: string): Promise<object | undefined> {
  const text = 'select settings from login.jwt_configs where mount_id = $1';
  return (await sql.query<{ settings: object }>(text, [mountId]))[0]?.settings;
}

/** The encrypted secret of a mount at its provider. */
export async function findSealedClientSecret(sql: Sql, mountId: string): Promise<Buffer | undefined> {
  const text = 'select sealed_oidc_client_secret as sealed from login.jwt_configs where mount_id = $1';
  return (await sql.query<{ sealed: Buffer | null }>(text, [mountId]))[0]?.sealed ?? undefined;
}

export async function upsertJwtConfig(
  sql: Sql,
  mountId: string,
  settings: object,
  sealedSecret: Buffer | null,
): Promise<void> {
  await sql.query(
    `insert into login.jwt_configs (mount_id, settings, sealed_oidc_client_secret) values ($1, $2::jsonb, $3)
     on conflict (mount_id) do update set settings = excluded.settings,
       sealed_oidc_client_secret = excluded.sealed_oidc_client_secret, updated_at = now()`,
    [mountId, JSON.stringify(settings), sealedSecret],
  );
}
