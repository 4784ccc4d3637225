import type { Caller } from '@secrets/caller';
import { Problem } from '@secrets/domain';
import type { Context } from '../context.ts';
import { initiateReplan } from '../queries/replans.ts';
import { type DestinationRef, requireLockedDestination } from './require-destination.ts';

/**
 * Requests that every association of a destination is planned again, in the background. A replan that is running starts again.
 * Throws `not_found` if the destination does not exist, `conflict` if it is being purged.
 */
export async function startReplan({ db }: Context, caller: Caller, ref: DestinationRef): Promise<void> {
  await db.transaction(async (tx) => {
    const destination = await requireLockedDestination(tx, caller, ref);
    if (destination.purgeInitiatedAt !== null)
      throw new Problem(
        'conflict',
        'this destination is being purged; its associations cannot be planned again',
      );
    await initiateReplan(tx, destination.id);
  });
}
