import type { Caller } from '@secrets/caller';
import type { Context } from '../context.ts';
import { disableMountRow } from '../queries/change-mounts.ts';

/** Disables the mount at a path, if there is one; its content is purged in the background. */
export async function removeMount(context: Context, caller: Caller, path: string): Promise<void> {
  const isDisabled = await disableMountRow(context.db, caller.namespace.id, path);
  if (isDisabled) context.notifyMountDisabled();
}
