import { randomUUID } from 'node:crypto';
import { notFound, permissionDenied } from '@secrets/domain';
import type { Context } from '../context.ts';
import type { MountRef } from '../mounts/mount-ref.ts';
import { readWriteState } from '../queries/insert-version.ts';
import { findMetadata, type MetadataChange, type MetadataRow, upsertMetadata } from '../queries/metadata.ts';
import { retryWrite } from './retry-write.ts';
import type { WriteGrants } from './write-conditions.ts';

/** Sets metadata, also of a secret that does not exist yet. Throws `forbidden` or `StaleMountError`. */
export async function putMetadata(
  context: Context,
  mount: MountRef,
  path: string,
  change: MetadataChange,
  grants: WriteGrants,
): Promise<void> {
  const conditions = { ...grants, secretId: randomUUID(), onlyIf: null };
  await retryWrite(async () => {
    if (await upsertMetadata(context.db, mount, path, change, conditions)) return true;
    const { exists } = await readWriteState(context.db, mount, path);
    if (!(exists ? grants.mayUpdate : grants.mayCreate)) throw permissionDenied();
    return undefined;
  });
}

/** Sets metadata to what `merge` makes of the stored metadata. Throws `not_found` or `StaleMountError`. */
export async function patchMetadata(
  context: Context,
  mount: MountRef,
  path: string,
  merge: (stored: MetadataRow) => MetadataChange,
): Promise<void> {
  const conditions = { secretId: randomUUID(), mayCreate: false, mayUpdate: true };
  await retryWrite(async () => {
    const stored = await findMetadata(context.db, mount, path);
    if (stored === undefined) throw notFound();
    const isWritten = await upsertMetadata(context.db, mount, path, merge(stored), {
      ...conditions,
      onlyIf: stored,
    });
    return isWritten ? true : undefined;
  });
}
