import type { MethodEndpoint } from '../../auth-method.ts';
import { roleEndpoints } from '../../roles/role-endpoints.ts';
import type { KubernetesContext } from '../kubernetes-context.ts';
import { kubernetesTables } from '../kubernetes-tables.ts';
import { KubernetesRoleBody, kubernetesRoleFields } from './role-fields.ts';
import { kubernetesRoleWarnings, mergedKubernetesRole, parseKubernetesRole } from './role-settings.ts';

/** `auth/<mount>/role/<name>` (docs/conventions/kubernetes.md#roles). */
export const kubernetesRoleEndpoints = (context: KubernetesContext): MethodEndpoint[] =>
  roleEndpoints(context, {
    table: kubernetesTables.roles,
    body: KubernetesRoleBody,
    write: (body) => ({
      merge: (stored) => mergedKubernetesRole(stored, body),
      warnings: async (_tx, role) => kubernetesRoleWarnings(role as ReturnType<typeof mergedKubernetesRole>),
    }),
    present: (settings, name) => {
      const role = parseKubernetesRole(settings, name);
      return { ...kubernetesRoleFields.shown(role), policies: role.token_policies };
    },
  });
