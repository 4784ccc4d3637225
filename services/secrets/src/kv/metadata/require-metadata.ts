import { requireFound } from '@secrets/domain';
import type { Context } from '../../context.ts';
import type { MountRef } from '../../mounts/mount-ref.ts';
import { findMetadata, type MetadataRow } from '../../queries/metadata.ts';

/**
 * The metadata of a secret. Throws `not_found` if there is no such secret.
 * @throws StaleMountError
 */
export async function requireMetadata(context: Context, mount: MountRef, path: string): Promise<MetadataRow> {
  return requireFound(await findMetadata(context.db, mount, path));
}
