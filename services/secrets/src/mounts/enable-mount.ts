import { randomBytes } from 'node:crypto';
import { type Db, isForeignKeyViolation } from '@secrets/db';
import { notFound, Problem } from '@secrets/domain';
import { findConflictingMount, insertMount, lockMounts, type MountChange } from '../queries/change-mounts.ts';
import { mountCandidates } from './mount-path.ts';

/**
 * Mounts a store at a checked path. Throws `conflict`, naming the mount at, above or below this path, because mounts
 * are never nested; and `not_found` if the namespace was deleted in the meantime.
 */
export function enableMount(db: Db, namespaceId: string, path: string, settings: MountChange): Promise<void> {
  return db
    .transaction(async (tx) => {
      await lockMounts(tx, namespaceId);
      const conflicting = await findConflictingMount(tx, namespaceId, path, mountCandidates(path));
      if (conflicting !== undefined)
        throw new Problem('conflict', `path is already in use at ${conflicting}/`);
      await insertMount(tx, namespaceId, path, newAccessor(), settings);
    })
    .catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? notFound() : error;
    });
}

const newAccessor = (): string => `kv_${randomBytes(4).toString('hex')}`;
