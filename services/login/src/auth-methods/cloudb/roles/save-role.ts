import { type Caller, requireGrant } from '@secrets/caller';
import { changingMount } from '../../../auth-mounts/changing-mount.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import { findRole, upsertRole } from '../queries/roles.ts';
import { mergedRole, type RoleBody, type RoleSettings } from './role-settings.ts';

/**
 * Creates a role, or merges a request into the stored one (docs/conventions.md#32-roles). Throws `invalid` if the result
 * is not a valid role, `not_found` if the mount was disabled in the meantime.
 */
export const saveRole = (
  context: CloudBContext,
  caller: Caller,
  { mountId, name }: { mountId: string; name: string },
  body: RoleBody,
): Promise<RoleSettings> =>
  changingMount(context, mountId, async (tx) => {
    const stored = await findRole(tx, mountId, name);
    requireGrant(caller, stored !== undefined);
    const role = mergedRole(stored, body);
    await upsertRole(tx, mountId, name, role);
    return role;
  });
