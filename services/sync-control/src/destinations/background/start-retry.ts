import type { Caller } from '@secrets/caller';
import { liftPause } from '@secrets/sync-entries';
import { requireOverwriteAccess } from '../../associations/require-overwrite-access.ts';
import type { Context } from '../../context.ts';
import { initiatePush } from '../../queries/destinations/destination-marks.ts';
import { type DestinationRef, requireLockedDestination } from '../require-destination.ts';
import { requireNoPurge } from './require-no-purge.ts';
import { retryFailedEntries } from './retry-failed.ts';

/** Options of a retry. */
interface RetryRequest {
  /** Whether every external secret is compared and repaired, not only what has failed is resent. */
  all: boolean;
  /** With `all`, whether foreign external secrets are replaced. */
  overwrite: boolean;
}

/**
 * Resends everything that has failed in a destination so far, the first page at once and the others in the background,
 * and ends its pause for one attempt. With `all`, every external secret is then read, and repaired where it differs.
 * Throws `not_found` if the destination does not exist, `conflict` while it is being purged, `forbidden` if the caller
 * may not overwrite.
 */
export async function startRetry(
  { db }: Context,
  caller: Caller,
  ref: DestinationRef,
  { all, overwrite }: RetryRequest,
): Promise<void> {
  await db.transaction(async (tx) => {
    const destination = await requireLockedDestination(tx, caller, ref);
    const { id } = destination;
    requireNoPurge(destination);
    if (overwrite) requireOverwriteAccess(caller, destination);
    await liftPause(tx, id);
    await retryFailedEntries(tx, id, { all: true });
    if (all) await initiatePush(tx, id, { verify: true, overwrite });
  });
}
