import { type Caller, requireGrant } from '@secrets/caller';
import { changingMount } from '../../../auth-mounts/changing-mount.ts';
import { believedSettings, hashOfMerged } from '../../../rows/believed-settings.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import { findConfig } from '../queries/configs.ts';
import { findRole, upsertRole } from '../queries/roles.ts';
import { roleKey } from './role-key.ts';
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
    const key = roleKey(mountId, name);
    const role = mergedRole(believedSettings(context.rows, key, stored), body);
    const rowHash = hashOfMerged(context.rows, key, stored, role);
    await upsertRole(tx, mountId, name, { settings: role, rowHash });
    const config = await findConfig(tx, mountId);
    const requirePrincipalBinding = config?.settings.require_principal_binding === true;
    return roleWarnings(role, { requirePrincipalBinding });
  });
