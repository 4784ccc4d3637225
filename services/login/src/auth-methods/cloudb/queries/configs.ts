import type { Sql } from '@secrets/db';
import {
  type ConfigRow,
  type ConfigSettings,
  configFields,
  readConfig,
  type StoredConfig,
} from '../config/config-settings.ts';
import { columnOf, type SealedSecrets } from '../config/secret-fields.ts';

const secretsSql = configFields.secretNames
  .map((field) => `case when ${columnOf(field)} is not null then '${field}' end`)
  .join();

/** The row of a configuration, without the secrets. */
export async function findConfigRow(sql: Sql, mountId: string): Promise<ConfigRow | undefined> {
  const text = `select settings, array_remove(array[${secretsSql}]::text[], null) as secrets
    from login.cloudb_configs where mount_id = $1`;
  return (await sql.query<ConfigRow>(text, [mountId]))[0];
}

/** A stored configuration, without the secrets. */
export async function findConfig(sql: Sql, mountId: string): Promise<StoredConfig | undefined> {
  const row = await findConfigRow(sql, mountId);
  return row && { ...row, settings: readConfig(row.settings) };
}

/** A configuration as the clients of the provider are built from it. */
export interface StoredCredentials {
  settings: ConfigSettings;
  sealedSecret: Uint8Array | null;
  /** Another one after each write, and none twice. */
  revision: number;
}

export async function findCredentials(sql: Sql, mountId: string): Promise<StoredCredentials | undefined> {
  const text = `select settings, sealed_client_secret as "sealedSecret", revision
    from login.cloudb_configs where mount_id = $1`;
  const [row] = await sql.query<StoredCredentials>(text, [mountId]);
  return row && { ...row, settings: readConfig(row.settings) };
}

/**
 * Whether another mount has an entered secret, not one that a rotation added, of an application. `clientIds` are in
 * lower case. Includes mounts of other tenants and namespaces: an application has the same passwords in all of them.
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

/** Stores a configuration, and those of its secret fields that are to be written. */
export async function upsertConfig(
  sql: Sql,
  mountId: string,
  settings: ConfigSettings,
  secrets: SealedSecrets,
): Promise<void> {
  const written = configFields.secretNames.filter((field) => secrets[field] !== undefined);
  const columns = ['settings', ...written.map(columnOf)];
  await sql.query(
    `insert into login.cloudb_configs (mount_id, ${columns.join()})
     values ($1, $2::jsonb${written.map((_, at) => `, $${at + 3}::bytea`).join('')})
     on conflict (mount_id) do update set ${columns.map((column) => `${column} = excluded.${column}`).join()},
       updated_at = now()`,
    [mountId, JSON.stringify(settings), ...written.map((field) => secrets[field])],
  );
}

export async function deleteConfigRow(sql: Sql, mountId: string): Promise<void> {
  await sql.query('delete from login.cloudb_configs where mount_id = $1', [mountId]);
}
