import type { Caller } from '@secrets/caller';
import type { Tx } from '@secrets/db';
import { Problem } from '@secrets/domain';
import { liftPause } from '@secrets/sync-entries';
import type { Context } from '../context.ts';
import { initiatePush, initiateRetryOfRivals } from '../queries/destinations/destination-marks.ts';
import { forgetScopeMembers, recordScope } from '../queries/destinations/destinations.ts';
import { retryFailedEntries } from './background/retry-failed.ts';
import { type DestinationRef, requireLockedDestination } from './require-destination.ts';

/**
 * Records that the external secrets of a destination belong in another scope from now on, such as a repository that was
 * deleted and created again (docs/conventions/sync.md#scopes). The same scope confirms what the settings name within it, such as
 * selected repositories. In the background, everything is pushed again, and other destinations retry what waits for the
 * names in the earlier scope. Returns a warning. Throws `not_found` if the destination does not exist, `conflict` while
 * it is being purged or before its first contact.
 */
export async function confirmScope(
  { db }: Context,
  caller: Caller,
  ref: DestinationRef,
  scopeId: string,
): Promise<string[]> {
  return db.transaction(async (tx) => {
    const destination = await requireLockedDestination(tx, caller, ref);
    const { id, scopeId: before, hasScopeMembers } = destination;
    if (destination.purgeInitiatedAt !== null)
      throw new Problem(
        'conflict',
        'the destination is being purged: its external secrets are removed from the scope that it has',
      );
    if (before === null)
      throw new Problem('conflict', 'no scope is remembered yet: the next external secret decides it');
    const isSame = before === scopeId;
    if (isSame && !hasScopeMembers)
      return ['the destination has this scope already: there was nothing to confirm'];
    if (isSame) await forgetScopeMembers(tx, id);
    else await moveTo(tx, id, scopeId);
    await liftPause(tx, id, { isChanged: true });
    await retryFailedEntries(tx, id, { all: true });
    await initiatePush(tx, id);
    return isSame ? [] : [`external secrets that are still in ${before} are not removed`];
  });
}

async function moveTo(tx: Tx, id: string, scopeId: string): Promise<void> {
  await initiateRetryOfRivals(tx, id); // while the destination is still in the place that it leaves
  await recordScope(tx, id, scopeId);
}
