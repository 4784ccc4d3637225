import type { Sql } from '@secrets/db';
import type { HashedSettings } from '../../../queries/hashed-settings.ts';

/** The row of a configuration; its settings are not parsed. */
export interface JwtConfigRow extends HashedSettings {
  /** The secret of the mount at its provider, encrypted. */
  sealedSecret: Buffer | null;
}

export async function findJwtConfig(sql: Sql, mountId: string): Promise<JwtConfigRow | undefined> {
  const text = `select settings, row_hash as "rowHash", sealed_oidc_client_secret as "sealedSecret"
    from login.jwt_configs where mount_id = $1`;
  return (await sql.query<JwtConfigRow>(text, [mountId]))[0];
}

export async function upsertJwtConfig(
  sql: Sql,
  mountId: string,
  { settings, rowHash, sealedSecret }: JwtConfigRow,
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
