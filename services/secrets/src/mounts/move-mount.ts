import { randomUUID } from 'node:crypto';
import type { Caller } from '@secrets/caller';
import { invalid } from '@secrets/domain';
import type { Context } from '../context.ts';
import { findConflictingMount, lockMounts, moveMountRow } from '../queries/mounts/change-mounts.ts';
import { findMount } from '../queries/mounts/mounts.ts';
import { namesConflict, pathInUse } from './create-mount.ts';
import { mountCandidates } from './mount-path.ts';

/** Where a mount is, and where it is to be, in the namespace of the request. */
export interface Move {
  from: string;
  to: string;
}

/**
 * Moves a mount with its secrets, at once: both keep their IDs. Its associations have the new path from the same commit
 * on. Returns the ID of the move. Throws `invalid` if there is no such mount, `conflict` if another mount is at, above
 * or below the new path, or a namespace has the name.
 */
export async function moveMount(
  context: Context,
  { namespace }: Caller,
  { from, to }: Move,
): Promise<string> {
  const id = randomUUID();
  const move = context.db.transaction(
    async (tx) => {
      await lockMounts(tx, namespace.id);
      const mount = await findMount(tx, namespace.id, from);
      if (mount === undefined) throw invalid(`from: nothing is mounted at ${from}/`);
      const conflicting = await findConflictingMount(tx, namespace.id, to, mountCandidates(to), from);
      if (conflicting !== undefined) throw pathInUse(conflicting);
      await moveMountRow(tx, mount.id, { path: to, from, moveId: id });
    },
    { isUnlimited: true }, // it takes as long as the mount has associations
  );
  await move.catch((error: unknown) => {
    throw namesConflict(error, to) ?? error;
  });
  return id;
}
