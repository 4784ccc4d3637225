import type { Sql } from '@secrets/db';

/** The row of a configuration; its settings are not parsed. */
export interface KubernetesConfigRow {
  settings: object;
  /** The token of the reviewer, encrypted. */
  sealedReviewer: Uint8Array | null;
}

export async function findKubernetesConfig(
  sql: Sql,
  mountId: string,
): Promise<KubernetesConfigRow | undefined> {
  const rows = await sql.query<KubernetesConfigRow>(
    `select settings, sealed_token_reviewer_jwt as "sealedReviewer"
     from login.kubernetes_configs where mount_id = $1`,
    [mountId],
  );
  return rows[0];
}

export async function upsertKubernetesConfig(
  sql: Sql,
  mountId: string,
  { settings, sealedReviewer }: KubernetesConfigRow,
): Promise<void> {
  await sql.query(
    `insert into login.kubernetes_configs (mount_id, settings, sealed_token_reviewer_jwt) values ($1, $2::jsonb, $3)
     on conflict (mount_id) do update set settings = excluded.settings,
       sealed_token_reviewer_jwt = excluded.sealed_token_reviewer_jwt, updated_at = now()`,
    [mountId, JSON.stringify(settings), sealedReviewer],
  );
}
