import type { MethodEndpoint } from '../../auth-method.ts';
import { roleEndpoints as endpointsOfRoles } from '../../roles/role-endpoints.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import { findConfig } from '../queries/configs.ts';
import { cloudBTables } from '../queries/login-target.ts';
import { mergedRole, parseRole, RoleBody, type RoleSettings, roleFields } from './role-settings.ts';
import { roleWarnings } from './role-warnings.ts';

/** `auth/<mount>/role/<name>` (docs/conventions/cloudb.md#roles). */
export const roleEndpoints = (context: CloudBContext): MethodEndpoint[] =>
  endpointsOfRoles(context, {
    table: cloudBTables.roles,
    body: RoleBody,
    write: (body, mountId) => ({
      merge: (stored) => mergedRole(stored, body),
      warnings: async (tx, settings) => {
        const config = await findConfig({ ...context, db: tx }, mountId);
        const requirePrincipalBinding = config?.settings.require_principal_binding === true;
        return roleWarnings(settings as RoleSettings, { requirePrincipalBinding });
      },
    }),
    present: (settings, name) => {
      const role = parseRole(settings, name);
      return { ...roleFields.shown(role), policies: role.token_policies };
    },
  });
