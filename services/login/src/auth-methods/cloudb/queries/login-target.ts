import { type AtEpoch, type Epoch, epochSql } from '@secrets/access';
import type { Sql } from '@secrets/db';
import type { LeaseLimits } from '../../../queries/auth-mounts.ts';
import { type ConfigSettings, readConfig } from '../config/config-settings.ts';
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
  sql: Sql,
  namespaceId: string,
  mount: string,
  role: string,
): Promise<AtEpoch<LoginTarget>> {
  const [row] = await sql.query<LoginTarget & Rows & { epoch: Epoch; mountId: string | null }>(
    `select ${epochSql('e')} as epoch, m.id as "mountId", m.accessor, n.path as "namespacePath",
       jsonb_build_object('defaultLeaseSeconds', m.default_lease_seconds, 'maxLeaseSeconds', m.max_lease_seconds) as limits,
       c.settings as config, r.settings as role
     from login.access_epoch e
     left join login.auth_mounts m on m.namespace_id = $1 and m.path = $2 and m.type = $4
     left join login.namespaces n on n.id = m.namespace_id
     left join login.cloudb_configs c on c.mount_id = m.id
     left join login.cloudb_roles r on r.mount_id = m.id and r.name = $3`,
    [namespaceId, mount, role, cloudBType],
  );
  if (row === undefined) throw new Error('login.access_epoch is empty');
  return { epoch: row.epoch, row: row.mountId === null ? undefined : { ...row, ...readSettings(row, role) } };
}

/** Reads what a renewal depends on. */
export async function findRenewalTarget(
  sql: Sql,
  mountId: string,
  role: string,
): Promise<Pick<LoginTarget, 'config' | 'role'>> {
  const [row] = await sql.query<Rows>(
    `select c.settings as config, r.settings as role
     from login.auth_mounts m
     left join login.cloudb_configs c on c.mount_id = m.id
     left join login.cloudb_roles r on r.mount_id = m.id and r.name = $2
     where m.id = $1`,
    [mountId, role.toLowerCase()],
  );
  return readSettings(row ?? { config: null, role: null }, role);
}

/** The columns with settings; null where there is no row. */
interface Rows {
  config: object | null;
  role: object | null;
}

/** Throws what `readStored` throws. */
const readSettings = ({ config, role }: Rows, name: string): Pick<LoginTarget, 'config' | 'role'> => ({
  config: config && readConfig(config),
  role: role && parseRole(role, name),
});
