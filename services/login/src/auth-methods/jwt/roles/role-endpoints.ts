import type { MethodEndpoint } from '../../auth-method.ts';
import { roleEndpoints } from '../../roles/role-endpoints.ts';
import type { JwtContext } from '../jwt-context.ts';
import { jwtTables } from '../jwt-tables.ts';
import { JwtRoleBody, jwtRoleFields } from './role-fields.ts';
import { mergedJwtRole, parseJwtRole } from './role-settings.ts';

/** `auth/<mount>/role/<name>` (docs/conventions/jwt.md#roles). */
export const jwtRoleEndpoints = (context: JwtContext): MethodEndpoint[] =>
  roleEndpoints(context, {
    table: jwtTables.roles,
    body: JwtRoleBody,
    write: (body) => ({
      merge: (stored) => mergedJwtRole(stored, body),
      warnings: async () => [],
    }),
    present: (settings, name) => {
      const role = parseJwtRole(settings, name);
      return { ...jwtRoleFields.shown(role), policies: role.token_policies };
    },
  });
