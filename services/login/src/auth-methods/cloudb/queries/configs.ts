import type { Sql } from '@secrets/db';
import type { ConfigSettings, StoredConfig } from '../config/config-settings.ts';

/** A stored configuration, without the secret. */
export async function findConfig(sql: Sql, mountId: string): Promise<StoredConfig | undefined> {
  const text = `select settings, sealed_client_secret is not null as "hasSecret"
    from login.cloudb_configs where mount_id = $1`;
  return (await sql.query<StoredConfig>(text, [mountId]))[0];
}

/** A configuration as the clients of the provider are built from it. */
export interface StoredCredentials {
  settings: ConfigSettings;
  sealedSecret: Uint8Array | null;
  /** Another one after each write. */
  revision: string;
}

export async function findCredentials(sql: Sql, mountId: string): Promise<StoredCredentials | undefined> {
  const text = `select settings, sealed_client_secret as "sealedSecret", updated_at::text as revision
    from login.cloudb_configs where mount_id = $1`;
  return (await sql.query<StoredCredentials>(text, [mountId]))[0];
}

/**
 * Whether another mount has an entered secret, not one that a rotation added, of an application. `clientIds` are in lower case. Includes
 * mounts of other tenants and namespaces: an application has the same passwords in all of them.
 */
export async function isEnteredElsewhere(
  sql: Sql,
  mountId: string,
  clientIds: readonly string[],
): Promise<boolean> {
  const rows = await sql.query(
    `select 1 from login.cloudb_configs c
      where c.sealed_client_secret is not null and lower(c.settings->>'client_id') = any($2::text[]) and c.mount_id <> $1
        and (select r.current_key_id from login.cloudb_rotations r where r.mount_id = c.mount_id) is null limit 1`,
    [mountId, clientIds],
  );
  return rows.length > 0;
}

/** Stores a configuration. `secret`: sealed bytes, null to delete the stored secret, undefined to keep it. */
export async function upsertConfig(
  sql: Sql,
  mountId: string,
  settings: ConfigSettings,
  secret: Uint8Array | null | undefined,
): Promise<void> {
  await sql.query(
    `insert into login.cloudb_configs (mount_id, settings, sealed_client_secret) values ($1, $2::jsonb, $3::bytea)
     on conflict (mount_id) do update set settings = excluded.settings, updated_at = now(),
       sealed_client_secret = case when $4 then excluded.sealed_client_secret else cloudb_configs.sealed_client_secret end`,
    [mountId, JSON.stringify(settings), secret ?? null, secret !== undefined],
  );
}

export async function deleteConfigRow(sql: Sql, mountId: string): Promise<void> {
  await sql.query('delete from login.cloudb_configs where mount_id = $1', [mountId]);
}
