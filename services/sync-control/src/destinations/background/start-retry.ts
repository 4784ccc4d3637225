import type { Caller } from '@secrets/caller';
import { liftPause } from '@secrets/sync-entries';
import type { Context } from '../../context.ts';
import { type DestinationRef, requireLockedDestination } from '../require-destination.ts';
import { requireNoPurge } from './require-no-purge.ts';
import { retryFailedEntries } from './retry-failed.ts';

/**
 * Resends everything that has failed in a destination so far, the first page at once and the others in the background,
 * and ends its pause for one attempt. Throws `not_found` if the destination does not exist, `conflict` while it is
 * being purged.
 */
export async function startRetry({ db }: Context, caller: Caller, ref: DestinationRef): Promise<void> {
  await db.transaction(async (tx) => {
    const destination = await requireLockedDestination(tx, caller, ref);
    const { id } = destination;
    requireNoPurge(destination);
    await liftPause(tx, id);
    await retryFailedEntries(tx, id, { all: true });
  });
}
