import { randomBytes } from 'node:crypto';
import type { Caller } from '@secrets/caller';
import { isForeignKeyViolation, isUniqueViolation } from '@secrets/db';
import { notFound, Problem } from '@secrets/domain';
import type { Context } from '../context.ts';
import {
  findConflictingMount,
  insertMount,
  lockMounts,
  type MountChange,
} from '../queries/mounts/change-mounts.ts';
import { mountCandidates } from './mount-path.ts';

/**
 * Creates a mount at a checked path in the namespace of the request. Throws `conflict` if there is a mount at, above or
 * below this path, because mounts are never nested, or a namespace with its first segment; `not_found` if the namespace
 * was deleted in the meantime.
 */
export function createMount(
  context: Context,
  { namespace }: Caller,
  path: string,
  settings: MountChange,
): Promise<void> {
  return context.db
    .transaction(async (tx) => {
      await lockMounts(tx, namespace.id);
      const conflicting = await findConflictingMount(tx, namespace.id, path, mountCandidates(path));
      if (conflicting !== undefined) throw pathInUse(conflicting);
      await insertMount(tx, namespace.id, path, newAccessor(), settings);
    })
    .catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? notFound() : (namesConflict(error, path) ?? error);
    });
}

export const pathInUse = (path: string) => new Problem('conflict', `path is already in use at ${path}/`);

/** The problem of a path of which the first segment is the name of a namespace; the database finds out. */
export const namesConflict = (error: unknown, path: string): Problem | undefined =>
  isUniqueViolation(error, 'names_of_mounts_and_namespaces')
    ? new Problem('conflict', `path is already in use: ${path.split('/', 1)[0]}/ is a namespace`)
    : undefined;

const newAccessor = (): string => `kv_${randomBytes(4).toString('hex')}`;
