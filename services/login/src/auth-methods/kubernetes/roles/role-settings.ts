import { invalid } from '@secrets/domain';
import { bindsNothing } from '../../roles/glob.ts';
import { refuseImpossibleToken } from '../../roles/role-tokens.ts';
import { type KubernetesRole, type KubernetesRoleBody, kubernetesRoleFields } from './role-fields.ts';

/** The settings in the row of a role. Throws what `readStored` throws. */
export const parseKubernetesRole = (row: object, name: string): KubernetesRole =>
  kubernetesRoleFields.read(row, `role ${name}`);

/**
 * A request merged into the row of a role. Throws `invalid` if the result admits whom its author did not name, or is not a valid
 * role otherwise, and what `readStored` throws for a field that the request does not replace.
 */
export function mergedKubernetesRole(row: object | undefined, body: KubernetesRoleBody): KubernetesRole {
  const role = kubernetesRoleFields.merged(row, body, 'the role');
  refuseUnbound(role);
  refuseImpossibleToken(role);
  return role;
}

const isOpen = (names: readonly string[]): boolean => names.some(bindsNothing);

function refuseUnbound(role: KubernetesRole): void {
  const { bound_service_account_names: names, bound_service_account_namespaces: namespaces, audience } = role;
  if (names.length === 0) throw invalid('bound_service_account_names is required');
  if (namespaces.length === 0) throw invalid('bound_service_account_namespaces is required');
  if (isOpen(names) && isOpen(namespaces))
    throw invalid(
      'bound_service_account_names and bound_service_account_namespaces: cannot both be *, which binds nothing',
    );
  if (audience === '')
    throw invalid('audience is required: without one, a token for any other service could log in');
  if (/^\*+$/.test(audience)) throw invalid('audience: * is not an audience');
}

/** Warnings for the author of a role. */
export const kubernetesRoleWarnings = (role: KubernetesRole): string[] =>
  isOpen(role.bound_service_account_namespaces)
    ? [
        'bound_service_account_namespaces: with *, whoever may create a service account of such a name in any namespace can log in',
      ]
    : [];
