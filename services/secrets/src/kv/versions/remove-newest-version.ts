import type { Context } from '../../context.ts';
import type { MountRef } from '../../mounts/mount-ref.ts';
import { deleteNewestVersion } from '../../queries/versions/update-versions.ts';

/**
 * Deletes the newest version, if there is one; it can be undeleted.
 * @throws StaleMountError
 */
export async function removeNewestVersion(context: Context, mount: MountRef, path: string): Promise<void> {
  const eventQueued = await deleteNewestVersion(context.db, mount, path);
  if (eventQueued) context.background.notifyChanged();
}
