import type { AtEpoch } from '@secrets/access';
import type { Db, Sql, Tx } from '@secrets/db';
import { notFound } from '@secrets/domain';
import type { ConfigSettings } from '../cloudb/config-settings.ts';
import type { RoleSettings } from '../cloudb/role-settings.ts';
import { revoking } from './revoking.ts';

/**
 * Runs a change to what belongs to a mount, one at a time; 404 when the mount was disabled meanwhile. The epoch moves,
 * so that every replica's next login sees the change.
 */
export const changingMount = <T>(db: Db, mountId: string, work: (tx: Tx) => Promise<T>): Promise<T> =>
  revoking(db, async (tx) => {
    const mount = await tx.query('select 1 from login.auth_mounts where id = $1 for no key update', [
      mountId,
    ]);
    if (mount.length === 0) throw notFound();
    return work(tx);
  });

export interface StoredConfig {
  settings: ConfigSettings;
  hasSecret: boolean;
}

export async function configOfMount(sql: Sql, mountId: string): Promise<StoredConfig | undefined> {
  const text = `select settings, sealed_client_secret is not null as "hasSecret"
    from login.cloudb_configs where mount_id = $1`;
  return (await sql.query<StoredConfig>(text, [mountId]))[0];
}

/** Stores a configuration. `secret`: sealed bytes, null to forget it, undefined to keep what is there. */
export async function saveConfig(
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

export async function deleteConfig(sql: Sql, mountId: string): Promise<void> {
  await sql.query('delete from login.cloudb_configs where mount_id = $1', [mountId]);
}

/** A role by its mount; names are case-insensitive. */
export async function roleOfMount(
  sql: Sql,
  mountId: string,
  name: string,
): Promise<RoleSettings | undefined> {
  const rows = await sql.query<{ settings: RoleSettings }>(
    'select settings from login.cloudb_roles where mount_id = $1 and name = $2',
    [mountId, name.toLowerCase()],
  );
  return rows[0]?.settings;
}

export async function roleNames(sql: Sql, mountId: string): Promise<string[]> {
  const text = 'select name from login.cloudb_roles where mount_id = $1 order by name limit 100000';
  return (await sql.query<{ name: string }>(text, [mountId])).map(({ name }) => name);
}

export async function saveRole(
  sql: Sql,
  mountId: string,
  name: string,
  settings: RoleSettings,
): Promise<void> {
  await sql.query(
    `insert into login.cloudb_roles (mount_id, name, settings) values ($1, $2, $3::jsonb)
     on conflict (mount_id, name) do update set settings = excluded.settings, updated_at = now()`,
    [mountId, name.toLowerCase(), JSON.stringify(settings)],
  );
}

export async function deleteRole(sql: Sql, mountId: string, name: string): Promise<void> {
  await sql.query('delete from login.cloudb_roles where mount_id = $1 and name = $2', [
    mountId,
    name.toLowerCase(),
  ]);
}

/** Everything that a login is decided by. */
export interface LoginTarget {
  mountId: string;
  config: ConfigSettings | null;
  role: RoleSettings | null;
}

/** Mount, configuration and role in one statement; no row when no such mount stands in the namespace. */
export async function readLoginTarget(
  sql: Sql,
  namespaceId: string,
  mount: string,
  role: string,
): Promise<AtEpoch<LoginTarget>> {
  const [row] = await sql.query<LoginTarget & { epoch: number; mountId: string | null }>(
    `select e.value as epoch, m.id as "mountId", c.settings as config, r.settings as role
     from login.access_epoch e
     left join login.auth_mounts m on m.namespace_id = $1 and m.path = $2
     left join login.cloudb_configs c on c.mount_id = m.id
     left join login.cloudb_roles r on r.mount_id = m.id and r.name = $3`,
    [namespaceId, mount, role],
  );
  if (row === undefined) throw new Error('login.access_epoch is empty');
  return { epoch: row.epoch, row: row.mountId === null ? undefined : row };
}
