import { randomBytes } from 'node:crypto';
import { type Db, isForeignKeyViolation } from '@secrets/db';
import { notFound, Problem } from '@secrets/domain';
import { mountCandidates } from './mount-path.ts';
import { conflictingMount, insertMount, lockMounts, type MountChange } from './queries/mounts.ts';

/**
 * Mounts a store at a checked path. Mounts never lie inside each other: `conflict` names the one in the way. In a
 * namespace that was deleted meanwhile: `not_found`.
 */
export function enableMount(db: Db, namespaceId: string, path: string, settings: MountChange): Promise<void> {
  return db
    .transaction(async (tx) => {
      await lockMounts(tx, namespaceId);
      const inTheWay = await conflictingMount(tx, namespaceId, path, mountCandidates(path));
      if (inTheWay !== undefined) throw new Problem('conflict', `path is already in use at ${inTheWay}/`);
      await insertMount(tx, namespaceId, path, newAccessor(), settings);
    })
    .catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? notFound() : error;
    });
}

const newAccessor = (): string => `kv_${randomBytes(4).toString('hex')}`;
