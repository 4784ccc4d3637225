import { type Caller, requireGrant } from '@secrets/caller';
import { changingMount } from '../../../auth-mounts/changing-mount.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import { findConfig } from '../queries/configs.ts';
import { findRole, upsertRole } from '../queries/roles.ts';
import { mergedRole, type RoleBody } from './role-settings.ts';
import { roleWarnings } from './role-warnings.ts';

/**
 * Creates a role, or merges a request into the stored one (docs/conventions/cloudb.md#roles). Returns
 * sentences about what it admits. Throws `invalid` if the result is not a valid role, `not_found` if the mount was
 * disabled in the meantime.
 */
export const saveRole = (
  context: CloudBContext,
  caller: Caller,
  { mountId, name }: { mountId: string; name: string },
  body: RoleBody,
): Promise<string[]> =>
  changingMount(context, mountId, async (tx) => {
    const stored = await findRole(tx, mountId, name);
    requireGrant(caller, stored !== undefined);
    const role = mergedRole(stored, body);
    await upsertRole(tx, mountId, name, role);
    const config = await findConfig(tx, mountId);
    const requirePrincipalBinding = config?.settings.require_principal_binding === true;
    return roleWarnings(role, { requirePrincipalBinding });
  });
