import type { AtEpoch, RowSource } from '@secrets/access';
import {
  findStoredSettings,
  findStoredTarget,
  type LoginTarget,
  type MethodTables,
} from '../targets/queries/stored-target.ts';
import { readKubernetesConfig } from './config/config-settings.ts';
import type { KubernetesTarget } from './kubernetes-context.ts';
import { parseKubernetesRole } from './roles/role-settings.ts';

/** Where the configurations and roles of mounts of this type are stored. */
export const kubernetesTables = {
  type: 'kubernetes',
  configs: 'login.kubernetes_configs',
  roles: 'login.kubernetes_roles',
} as const satisfies MethodTables;

/** Reads what a login depends on; no row if no mount of this type has the path. */
export async function findKubernetesTarget(
  source: RowSource,
  namespaceId: string,
  mount: string,
  role: string,
): Promise<AtEpoch<KubernetesTarget>> {
  const { epoch, row } = await findStoredTarget(source, kubernetesTables, namespaceId, mount, role);
  return { epoch, row: row && { ...row, ...settingsIn(row) } };
}

type Settings<Of extends Pick<LoginTarget<unknown, unknown>, 'config' | 'role'>> = Pick<
  Of,
  'config' | 'role'
>;

/** Reads what a renewal depends on. */
export const findKubernetesRenewal = async (
  source: RowSource,
  mountId: string,
  role: string,
): Promise<Settings<KubernetesTarget>> =>
  settingsIn(await findStoredSettings(source, kubernetesTables, mountId, role));

const settingsIn = ({
  config,
  role,
  roleName,
}: Pick<LoginTarget<object, object>, 'config' | 'role' | 'roleName'>): Settings<KubernetesTarget> => ({
  config: config && readKubernetesConfig(config),
  role: role && parseKubernetesRole(role, roleName!),
});
