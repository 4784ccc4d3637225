import type { Sql } from '@secrets/db';
import type { HashedSettings } from '../../../queries/hashed-settings.ts';

/** The row of a configuration; its settings are not parsed. */
export async function findJwtConfig(sql: Sql, mountId: string): Promise<HashedSettings | undefined> {
  const text = 'select settings, row_hash as "rowHash" from login.jwt_configs where mount_id = $1';
  return (await sql.query<HashedSettings>(text, [mountId]))[0];
}

/** The encrypted secret of a mount at its provider. */
export async function findSealedClientSecret(sql: Sql, mountId: string): Promise<Buffer | undefined> {
  const text = 'select sealed_oidc_client_secret as sealed from login.jwt_configs where mount_id = $1';
  return (await sql.query<{ sealed: Buffer | null }>(text, [mountId]))[0]?.sealed ?? undefined;
}

export async function upsertJwtConfig(
  sql: Sql,
  mountId: string,
  { settings, rowHash }: HashedSettings,
  sealedSecret: Buffer | null,
): Promise<void> {
  // Settings may have been changed under the hash that they get now: the trigger would take that for a write of an older version.
  await sql.query('update login.jwt_configs set row_hash = null where mount_id = $1 and row_hash = $2', [
    mountId,
    rowHash,
  ]);
  await sql.query(
    `insert into login.jwt_configs (mount_id, settings, sealed_oidc_client_secret, row_hash) values ($1, $2::jsonb, $3, $4)
     on conflict (mount_id) do update set settings = excluded.settings,
       sealed_oidc_client_secret = excluded.sealed_oidc_client_secret, row_hash = excluded.row_hash, updated_at = now()`,
    [mountId, JSON.stringify(settings), sealedSecret, rowHash],
  );
}
