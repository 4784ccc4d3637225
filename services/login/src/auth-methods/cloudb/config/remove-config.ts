import { changingMount } from '../../../auth-mounts/changing-mount.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import { deleteConfigRow } from '../queries/configs.ts';

/**
 * Deletes the configuration of a mount, and drops what is cached for it. Succeeds if there is none. Throws
 * `not_found` if the mount was disabled in the meantime.
 */
export async function removeConfig(context: CloudBContext, mountId: string): Promise<void> {
  await changingMount(context, mountId, (tx) => deleteConfigRow(tx, mountId));
  context.directory.forget(mountId);
  context.providers.forget(mountId);
}
