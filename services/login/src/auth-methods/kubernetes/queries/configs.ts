import type { Sql } from '@secrets/db';
import type { HashedSettings } from '../../../queries/hashed-settings.ts';

/** The row of a configuration; its settings are not parsed. */
export interface KubernetesConfigRow extends HashedSettings {
  /** The token of the reviewer, encrypted. */
  sealedReviewer: Uint8Array | null;
}

export async function findKubernetesConfig(
  sql: Sql,
  mountId: string,
): Promise<KubernetesConfigRow | undefined> {
  const rows = await sql.query<KubernetesConfigRow>(
    `select settings, row_hash as "rowHash", sealed_token_reviewer_jwt as "sealedReviewer"
     from login.kubernetes_configs where mount_id = $1`,
    [mountId],
  );
  return rows[0];
}

export async function upsertKubernetesConfig(
  sql: Sql,
  mountId: string,
  { settings, rowHash, sealedReviewer }: KubernetesConfigRow,
): Promise<void> {
  // Settings may have been changed under the hash that they get now: the trigger would take that for a write of an older version.
  await sql.query(
    'update login.kubernetes_configs set row_hash = null where mount_id = $1 and row_hash = $2',
    [mountId, rowHash],
  );
  await sql.query(
    `insert into login.kubernetes_configs (mount_id, settings, sealed_token_reviewer_jwt, row_hash) values ($1, $2::jsonb, $3, $4)
     on conflict (mount_id) do update set settings = excluded.settings,
       sealed_token_reviewer_jwt = excluded.sealed_token_reviewer_jwt, row_hash = excluded.row_hash, updated_at = now()`,
    [mountId, JSON.stringify(settings), sealedReviewer, rowHash],
  );
}
