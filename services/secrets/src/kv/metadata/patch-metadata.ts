import { randomUUID } from 'node:crypto';
import type { Context } from '../../context.ts';
import type { MountRef } from '../../mounts/mount-ref.ts';
import {
  type MetadataChange,
  type MetadataRow,
  upsertMetadata,
  type WrittenMetadata,
} from '../../queries/metadata.ts';
import { retryWrite } from '../retry-write.ts';
import { requireMetadata } from './require-metadata.ts';

/**
 * Sets metadata to what `merge` makes of the stored metadata. Throws `not_found` if there is no such secret.
 * @throws StaleMountError
 */
export async function patchMetadata(
  context: Context,
  mount: MountRef,
  path: string,
  merge: (stored: MetadataRow) => MetadataChange,
): Promise<WrittenMetadata> {
  const conditions = { secretId: randomUUID(), mayCreate: false, mayUpdate: true };
  return retryWrite(async () => {
    const stored = await requireMetadata(context, mount, path);
    const written = await upsertMetadata(context.db, mount, path, merge(stored), {
      ...conditions,
      onlyIf: stored,
    });
    if (written?.eventQueued) context.background.notifyChanged();
    return written;
  });
}
