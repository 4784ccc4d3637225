import { randomUUID } from 'node:crypto';
import type { Caller } from '@secrets/caller';
import { permissionDenied } from '@secrets/domain';
import type { Context } from '../../context.ts';
import type { MountRef } from '../../mounts/mount-ref.ts';
import { type MetadataChange, upsertMetadata, type WrittenMetadata } from '../../queries/metadata.ts';
import { readWriteState } from '../../queries/versions/insert-version.ts';
import { retryWrite } from '../retry-write.ts';
import { writeGrants } from '../write-conditions.ts';

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
): Promise<WrittenMetadata> {
  const grants = writeGrants(caller);
  const conditions = { ...grants, secretId: randomUUID(), onlyIf: null };
  return retryWrite(async () => {
    const written = await upsertMetadata(context.db, mount, path, change, conditions);
    if (written?.eventQueued) context.background.notifyChanged();
    if (written !== undefined) return written;
    const { exists } = await readWriteState(context.db, mount, path);
    if (!(exists ? grants.mayUpdate : grants.mayCreate)) throw permissionDenied();
    return undefined;
  });
}
