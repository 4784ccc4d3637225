import { changingMount } from '../../../auth-mounts/changing-mount.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import { deleteRoleRow } from '../queries/roles.ts';

/** Deletes a role. Succeeds if there is none. Throws `not_found` if the mount was disabled in the meantime. */
export const removeRole = (context: CloudBContext, mountId: string, name: string): Promise<void> =>
  changingMount(context, mountId, (tx) => deleteRoleRow(tx, mountId, name));
