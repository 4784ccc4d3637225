import type { Caller } from '@secrets/caller';
import { Problem } from '@secrets/domain';
import { retryFailedRemovals } from '@secrets/sync-entries';
import type { Context } from './context.ts';
import { countAssociations } from './queries/associations.ts';
import { deleteDestination, initiatePurge, lockDestination } from './queries/destinations.ts';

/** The refusal counts the associations up to here. */
const maxListed = 10_000;

/** How a destination is to go. */
export interface RemovalManner {
  /** Unsync everything first, in the background. */
  purge: boolean;
  /** Forget it and its associations without calling the provider. */
  forceDelete: boolean;
}

/**
 * Deletes a destination if it exists (docs/conventions.md#513-deleting-a-destination). One that still manages
 * associations is refused (`invalid`) unless purged or forced.
 */
export async function removeDestination(
  { db, queue }: Context,
  caller: Caller,
  { type, name }: { type: string; name: string },
  manner: RemovalManner,
): Promise<void> {
  const full = manner.purge ? await queue.room.whyFull(1) : undefined;
  if (full !== undefined) throw full;
  await db.transaction(async (tx) => {
    const destination = await lockDestination(tx, { namespaceId: caller.namespace.id, type, name });
    if (destination === undefined) return;
    const associations = await countAssociations(tx, destination.id, maxListed + 1);
    if (manner.forceDelete || associations === 0) return deleteDestination(tx, destination.id);
    if (manner.purge) {
      await retryFailedRemovals(tx, destination.id); // what an earlier purge could not remove
      return initiatePurge(tx, destination.id);
    }
    const sentence = `this destination still manages ${inWords(associations)}`;
    throw new Problem('invalid', `${sentence}; remove them first, or delete with purge=true`);
  });
}

function inWords(associations: number): string {
  if (associations > maxListed) return `more than ${maxListed} associations`;
  return `${associations} association${associations === 1 ? '' : 's'}`;
}
