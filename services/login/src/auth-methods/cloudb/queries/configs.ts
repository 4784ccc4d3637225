import type { RowSource } from '@secrets/access';
import type { Sql } from '@secrets/db';
import type { HashedSettings } from '../../../queries/hashed-settings.ts';
import { believedSettings, type SettingsKey } from '../../../rows/believed-settings.ts';
import { configKey } from '../../targets/queries/stored-target.ts';
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

type Hashed<Row> = Row & HashedSettings;

/** The row of a configuration, without the secrets. Throws what `believedSettings` throws. */
export async function findConfigRow(
  { db, rows }: RowSource,
  mountId: string,
): Promise<Hashed<ConfigRow> | undefined> {
  const text = `select settings, row_hash as "rowHash", array_remove(array[${secretsSql}]::text[], null) as secrets
    from login.cloudb_configs where mount_id = $1`;
  const [row] = await db.query<Hashed<ConfigRow>>(text, [mountId]);
  believedSettings(rows, cloudBConfigKey(mountId), row);
  return row;
}

/** Identifies the row of a configuration. */
export const cloudBConfigKey = (mountId: string): SettingsKey => configKey('login.cloudb_configs', mountId);

/** A stored configuration, without the secrets. Throws what `findConfigRow` and `readConfig` throw. */
export async function findConfig(source: RowSource, mountId: string): Promise<StoredConfig | undefined> {
  const row = await findConfigRow(source, mountId);
  return row && { ...row, settings: readConfig(row.settings) };
}

/** A configuration as the clients of the provider are built from it. */
export interface StoredCredentials {
  settings: ConfigSettings;
  sealedSecret: Uint8Array | null;
  /** Another one after each write, and none twice. */
  revision: number;
}

/** Throws what `findConfig` throws. */
export async function findCredentials(
  { db, rows }: RowSource,
  mountId: string,
): Promise<StoredCredentials | undefined> {
  const text = `select settings, row_hash as "rowHash", sealed_client_secret as "sealedSecret", revision
    from login.cloudb_configs where mount_id = $1`;
  const [row] = await db.query<Hashed<StoredCredentials>>(text, [mountId]);
  const settings = believedSettings(rows, cloudBConfigKey(mountId), row);
  return row && { ...row, settings: readConfig(settings!) };
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
  { settings, rowHash }: HashedSettings,
  secrets: SealedSecrets,
): Promise<void> {
  const written = configFields.secretNames.filter((field) => secrets[field] !== undefined);
  const columns = ['settings', 'row_hash', ...written.map(columnOf)];
  await sql.query(
    `insert into login.cloudb_configs (mount_id, ${columns.join()})
     values ($1, $2::jsonb, $3${written.map((_, at) => `, $${at + 4}::bytea`).join('')})
     on conflict (mount_id) do update set ${columns.map((column) => `${column} = excluded.${column}`).join()},
       updated_at = now()`,
    [mountId, JSON.stringify(settings), rowHash, ...written.map((field) => secrets[field])],
  );
}

export async function deleteConfigRow(sql: Sql, mountId: string): Promise<void> {
  await sql.query('delete from login.cloudb_configs where mount_id = $1', [mountId]);
}
