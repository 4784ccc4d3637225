import type { Context } from '../../context.ts';
import type { MountRef } from '../../mounts/mount-ref.ts';
import { updateVersions, type VersionChange } from '../../queries/versions/update-versions.ts';

/**
 * Deletes, undeletes or destroys versions; skips those that do not exist or are already in the requested state.
 * @throws StaleMountError
 */
export async function changeVersions(
  context: Context,
  mount: MountRef,
  path: string,
  change: VersionChange,
  versions: readonly number[],
): Promise<void> {
  const eventQueued = await updateVersions(context.db, mount, path, change, versions);
  if (eventQueued) context.background.notifyChanged();
}
