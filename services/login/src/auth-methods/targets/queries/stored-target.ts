import { type AtEpoch, type Epoch, epochSql, type RowSource } from '@secrets/access';
import type { LeaseLimits } from '../../../queries/auth-mounts.ts';
import { believedSettings, type SettingsKey } from '../../../rows/believed-settings.ts';
import type { RoleTable } from '../../roles/queries/roles.ts';
import { roleKey } from '../../roles/stored-roles.ts';

/** A table with the configurations of the mounts of a method. */
export type ConfigTable = 'login.cloudb_configs' | 'login.jwt_configs' | 'login.kubernetes_configs';

/** Identifies the row of a configuration. */
export const configKey = (table: ConfigTable, mountId: string): SettingsKey => ({ table, key: [mountId] });

/** Where a method stores the configurations and roles of its mounts. */
export interface MethodTables {
  /** The type of its mounts. */
  type: string;
  configs: ConfigTable;
  roles: RoleTable;
}

/** Everything stored that a login depends on. Configuration and role are null if there is none. */
export interface LoginTarget<Config, Role> {
  mountId: string;
  /** The accessor of the mount. */
  accessor: string;
  namespacePath: string;
  limits: LeaseLimits;
  config: Config | null;
  role: Role | null;
  /** In lower case; null like `role`. */
  roleName: string | null;
}

type StoredTarget = LoginTarget<object, object>;
type StoredSettings = Pick<StoredTarget, 'config' | 'role' | 'roleName'>;

/**
 * Reads mount, configuration and role in one statement; no row if no mount of this type has the path. An empty name is that of
 * the configuration's `default_role`. Throws what `believedSettings` throws.
 */
export async function findStoredTarget(
  { db, rows }: RowSource,
  tables: MethodTables,
  namespaceId: string,
  mount: string,
  role: string,
): Promise<AtEpoch<StoredTarget>> {
  const { type, configs, roles } = tables;
  const [row] = await db.query<StoredTarget & Hashed & { epoch: Epoch; mountId: string | null }>(
    `select ${epochSql('e')} as epoch, m.id as "mountId", m.accessor, n.path as "namespacePath",
       jsonb_build_object('defaultLeaseSeconds', m.default_lease_seconds, 'maxLeaseSeconds', m.max_lease_seconds) as limits,
       c.settings as config, c.row_hash as "configHash",
       r.settings as role, r.name as "roleName", r.row_hash as "roleHash"
     from login.access_epoch e
     left join login.auth_mounts m on m.namespace_id = $1 and m.path = $2 and m.type = $4
     left join login.namespaces n on n.id = m.namespace_id
     left join ${configs} c on c.mount_id = m.id
     left join ${roles} r on r.mount_id = m.id and r.name = coalesce(nullif($3, ''), lower(c.settings->>'default_role'))`,
    [namespaceId, mount, role, type],
  );
  if (row === undefined) throw new Error('login.access_epoch is empty');
  const { epoch, configHash: _, roleHash: __, ...target } = row;
  if (target.mountId === null) return { epoch, row: undefined };
  return { epoch, row: { ...target, ...believed(rows, tables, target.mountId, row) } };
}

/** Reads what a renewal depends on. */
export async function findStoredSettings(
  { db, rows }: RowSource,
  tables: MethodTables,
  mountId: string,
  role: string,
): Promise<StoredSettings> {
  const { configs, roles } = tables;
  const [row] = await db.query<StoredSettings & Hashed>(
    `select c.settings as config, c.row_hash as "configHash",
       r.settings as role, r.name as "roleName", r.row_hash as "roleHash"
     from login.auth_mounts m
     left join ${configs} c on c.mount_id = m.id
     left join ${roles} r on r.mount_id = m.id and r.name = $2
     where m.id = $1`,
    [mountId, role.toLowerCase()],
  );
  return row === undefined
    ? { config: null, role: null, roleName: null }
    : believed(rows, tables, mountId, row);
}

/** Null where there is no such row. */
interface Hashed {
  configHash: string | null;
  roleHash: string | null;
}

const believed = (
  rows: RowSource['rows'],
  tables: MethodTables,
  mountId: string,
  { config, configHash, role, roleName, roleHash }: StoredSettings & Hashed,
): StoredSettings => ({
  config:
    config &&
    believedSettings(rows, configKey(tables.configs, mountId), { settings: config, rowHash: configHash }),
  roleName,
  role:
    role &&
    believedSettings(rows, roleKey(tables.roles, { mountId, name: roleName! }), {
      settings: role,
      rowHash: roleHash,
    }),
});
