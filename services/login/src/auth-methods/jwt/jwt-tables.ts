import type { AtEpoch, RowSource } from '@secrets/access';
import {
  findStoredSettings,
  findStoredTarget,
  type LoginTarget,
  type MethodTables,
} from '../targets/queries/stored-target.ts';
import { readJwtConfig } from './config/config-settings.ts';
import type { JwtTarget } from './jwt-context.ts';
import { parseJwtRole } from './roles/role-settings.ts';

/** Where the configurations and roles of mounts of this type are stored. */
export const jwtTables = {
  type: 'jwt',
  configs: 'login.jwt_configs',
  roles: 'login.jwt_roles',
} as const satisfies MethodTables;

/** Reads what a login depends on; no row if no mount of this type has the path. */
export async function findJwtTarget(
  source: RowSource,
  namespaceId: string,
  mount: string,
  role: string,
): Promise<AtEpoch<JwtTarget>> {
  const { epoch, row } = await findStoredTarget(source, jwtTables, namespaceId, mount, role);
  return { epoch, row: row && { ...row, ...settingsIn(row) } };
}

/** Reads what a renewal depends on. */
export const findJwtRenewal = async (
  source: RowSource,
  mountId: string,
  role: string,
): Promise<Pick<JwtTarget, 'config' | 'role'>> =>
  settingsIn(await findStoredSettings(source, jwtTables, mountId, role));

const settingsIn = ({
  config,
  role,
  roleName,
}: Pick<LoginTarget<object, object>, 'config' | 'role' | 'roleName'>): Pick<
  JwtTarget,
  'config' | 'role'
> => ({
  config: config && readJwtConfig(config),
  role: role && parseJwtRole(role, roleName!),
});
