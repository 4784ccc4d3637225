import type { AtEpoch, RowSource } from '@secrets/access';
import {
  findStoredSettings,
  findStoredTarget,
  type MethodTables,
  type LoginTarget as TargetOf,
} from '../../targets/queries/stored-target.ts';
import { type ConfigSettings, readConfig } from '../config/config-settings.ts';
import { parseRole, type RoleSettings } from '../roles/role-settings.ts';

/** The type of this method's mounts. */
export const cloudBType = 'cloudB';

/** Where their configurations and roles are stored. */
export const cloudBTables = {
  type: cloudBType,
  configs: 'login.cloudb_configs',
  roles: 'login.cloudb_roles',
} as const satisfies MethodTables;

/** Everything stored that a login depends on. */
export type LoginTarget = TargetOf<ConfigSettings, RoleSettings>;

/** A target that has both. */
export type ReadyTarget = LoginTarget & { config: ConfigSettings; role: RoleSettings };

/** Reads mount, configuration and role in one statement; no row if no mount of this type has the path. */
export async function findLoginTarget(
  source: RowSource,
  namespaceId: string,
  mount: string,
  role: string,
): Promise<AtEpoch<LoginTarget>> {
  const { epoch, row } = await findStoredTarget(source, cloudBTables, namespaceId, mount, role);
  return { epoch, row: row && { ...row, ...readSettings(row) } };
}

/** Reads what a renewal depends on. */
export const findRenewalTarget = async (
  source: RowSource,
  mountId: string,
  role: string,
): Promise<Pick<LoginTarget, 'config' | 'role'>> =>
  readSettings(await findStoredSettings(source, cloudBTables, mountId, role));

/** Throws what `readStored` throws. */
const readSettings = ({
  config,
  role,
  roleName,
}: Pick<TargetOf<object, object>, 'config' | 'role' | 'roleName'>): Pick<LoginTarget, 'config' | 'role'> => ({
  config: config && readConfig(config),
  role: role && parseRole(role, roleName!),
});
