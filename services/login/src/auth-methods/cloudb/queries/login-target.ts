import { type AtEpoch, type Epoch, epochSql, type RowSource } from '@secrets/access';
import type { LeaseLimits } from '../../../queries/auth-mounts.ts';
import { believedSettings } from '../../../rows/believed-settings.ts';
import { type ConfigSettings, readConfig } from '../config/config-settings.ts';
import { roleKey } from '../roles/role-key.ts';
import { parseRole, type RoleSettings } from '../roles/role-settings.ts';

/** The type of this method's mounts. */
export const cloudBType = 'cloudB';

/** Everything stored that a login depends on. */
export interface LoginTarget {
  mountId: string;
  /** Of the mount. */
  accessor: string;
  namespacePath: string;
  limits: LeaseLimits;
  config: ConfigSettings | null;
  role: RoleSettings | null;
}

/** A target that has both. */
export type ReadyTarget = LoginTarget & { config: ConfigSettings; role: RoleSettings };

/** Reads mount, configuration and role in one statement; no row if no mount of this type has the path. */
export async function findLoginTarget(
  { db, rows }: RowSource,
  namespaceId: string,
  mount: string,
  role: string,
): Promise<AtEpoch<LoginTarget>> {
  const [row] = await db.query<LoginTarget & Rows & { epoch: Epoch; mountId: string | null }>(
    `select ${epochSql('e')} as epoch, m.id as "mountId", m.accessor, n.path as "namespacePath",
       jsonb_build_object('defaultLeaseSeconds', m.default_lease_seconds, 'maxLeaseSeconds', m.max_lease_seconds) as limits,
       c.settings as config, r.settings as role, r.row_hash as "roleHash"
     from login.access_epoch e
     left join login.auth_mounts m on m.namespace_id = $1 and m.path = $2 and m.type = $4
     left join login.namespaces n on n.id = m.namespace_id
     left join login.cloudb_configs c on c.mount_id = m.id
     left join login.cloudb_roles r on r.mount_id = m.id and r.name = $3`,
    [namespaceId, mount, role, cloudBType],
  );
  if (row === undefined) throw new Error('login.access_epoch is empty');
  const { epoch, roleHash: _, ...target } = row;
  if (target.mountId === null) return { epoch, row: undefined };
  return { epoch, row: { ...target, ...readSettings(rows, row, roleKey(target.mountId, role)) } };
}

/** Reads what a renewal depends on. */
export async function findRenewalTarget(
  { db, rows }: RowSource,
  mountId: string,
  role: string,
): Promise<Pick<LoginTarget, 'config' | 'role'>> {
  const [row] = await db.query<Rows>(
    `select c.settings as config, r.settings as role, r.row_hash as "roleHash"
     from login.auth_mounts m
     left join login.cloudb_configs c on c.mount_id = m.id
     left join login.cloudb_roles r on r.mount_id = m.id and r.name = $2
     where m.id = $1`,
    [mountId, role.toLowerCase()],
  );
  return readSettings(rows, row ?? { config: null, role: null, roleHash: null }, roleKey(mountId, role));
}

/** The columns with settings; null where there is no row. */
interface Rows {
  config: object | null;
  role: object | null;
  roleHash: string | null;
}

/** Throws what `readStored` and `believedSettings` throw. */
const readSettings = (
  rows: RowSource['rows'],
  { config, role, roleHash }: Rows,
  key: ReturnType<typeof roleKey>,
): Pick<LoginTarget, 'config' | 'role'> => ({
  config: config && readConfig(config),
  role: role && parseRole(believedSettings(rows, key, { settings: role, rowHash: roleHash }), key.name),
});
