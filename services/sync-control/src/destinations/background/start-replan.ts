import type { Caller } from '@secrets/caller';
import type { Context } from '../../context.ts';
import { initiateReplan } from '../../queries/destinations/replans.ts';
import { type DestinationRef, requireLockedDestination } from '../require-destination.ts';
import { requireNoPurge } from './require-no-purge.ts';

/**
 * Requests that every association of a destination is planned again, in the background. A replan that is running starts again.
 * Throws `not_found` if the destination does not exist, `conflict` if it is being purged or a purge has failed.
 */
export async function startReplan({ db }: Context, caller: Caller, ref: DestinationRef): Promise<void> {
  await db.transaction(async (tx) => {
    const destination = await requireLockedDestination(tx, caller, ref);
    requireNoPurge({ ...destination, purgeError: null });
    await initiateReplan(tx, destination.id);
  });
}
