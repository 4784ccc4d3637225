import { randomUUID } from 'node:crypto';
import type { Caller } from '@secrets/caller';
import { permissionDenied } from '@secrets/domain';
import type { Context } from '../context.ts';
import type { MountRef } from '../mounts/mount-ref.ts';
import { readWriteState } from '../queries/insert-version.ts';
import {
  deleteMetadata,
  type MetadataChange,
  type MetadataRow,
  upsertMetadata,
} from '../queries/metadata.ts';
import { requireMetadata } from './require-metadata.ts';
import { retryWrite } from './retry-write.ts';
import { writeGrants } from './write-conditions.ts';

/**
 * Sets metadata, also of a secret that does not exist yet. Throws `forbidden` if the caller may not create or update it.
 * @throws StaleMountError
 */
export async function saveMetadata(
  context: Context,
  caller: Caller,
  mount: MountRef,
  path: string,
  change: MetadataChange,
): Promise<void> {
  const grants = writeGrants(caller);
  const conditions = { ...grants, secretId: randomUUID(), onlyIf: null };
  await retryWrite(async () => {
    if (await upsertMetadata(context.db, mount, path, change, conditions)) return true;
    const { exists } = await readWriteState(context.db, mount, path);
    if (!(exists ? grants.mayUpdate : grants.mayCreate)) throw permissionDenied();
    return undefined;
  });
}

/**
 * Sets metadata to what `merge` makes of the stored metadata. Throws `not_found` if there is no such secret.
 * @throws StaleMountError
 */
export async function patchMetadata(
  context: Context,
  mount: MountRef,
  path: string,
  merge: (stored: MetadataRow) => MetadataChange,
): Promise<void> {
  const conditions = { secretId: randomUUID(), mayCreate: false, mayUpdate: true };
  await retryWrite(async () => {
    const stored = await requireMetadata(context, mount, path);
    const isWritten = await upsertMetadata(context.db, mount, path, merge(stored), {
      ...conditions,
      onlyIf: stored,
    });
    return isWritten ? true : undefined;
  });
}

/**
 * Deletes a secret with all of its versions, if there is one.
 * @throws StaleMountError
 */
export async function removeMetadata(context: Context, mount: MountRef, path: string): Promise<void> {
  const eventQueued = await deleteMetadata(context.db, mount, path);
  if (eventQueued) context.notifyChanged();
}
