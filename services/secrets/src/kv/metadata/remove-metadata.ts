import type { Context } from '../../context.ts';
import type { MountRef } from '../../mounts/mount-ref.ts';
import { deleteMetadata } from '../../queries/metadata.ts';

/**
 * Deletes a secret with all of its versions, if there is one.
 * @throws StaleMountError
 */
export async function removeMetadata(context: Context, mount: MountRef, path: string): Promise<void> {
  const eventQueued = await deleteMetadata(context.db, mount, path);
  if (eventQueued) context.background.notifyChanged();
}
