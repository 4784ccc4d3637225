import type { Caller } from '@secrets/caller';
import { notFound, Problem } from '@secrets/domain';
import type { Context } from '../context.ts';
import { type DestinationKey, lockDestination } from '../queries/destinations.ts';
import { initiateReplan } from '../queries/replans.ts';

/**
 * Requests that every association of a destination is planned again, in the background. A replan that is running starts again.
 * Problems: `not_found` destination; `conflict` with a purge.
 */
export async function startReplan(
  { db }: Context,
  caller: Caller,
  { type, name }: Pick<DestinationKey, 'type' | 'name'>,
): Promise<void> {
  await db.transaction(async (tx) => {
    const destination = await lockDestination(tx, { namespaceId: caller.namespace.id, type, name });
    if (destination === undefined) throw notFound();
    if (destination.purgeInitiatedAt !== null)
      throw new Problem(
        'conflict',
        'this destination is being purged; its associations cannot be planned again',
      );
    await initiateReplan(tx, destination.id);
  });
}
