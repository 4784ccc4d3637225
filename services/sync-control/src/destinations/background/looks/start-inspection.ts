import type { Caller } from '@secrets/caller';
import type { Tx } from '@secrets/db';
import { Problem } from '@secrets/domain';
import { readHealth, requestInspection } from '@secrets/sync-entries';
import type { Context } from '../../../context.ts';
import {
  type DestinationRef,
  requireDestination,
  requireLockedDestination,
} from '../../require-destination.ts';
import { presentDestinationFlow } from '../../status/present-pause.ts';
import { requireCallable } from '../../status/require-callable.ts';
import { requireNoPurge } from '../require-no-purge.ts';

/**
 * Requests a look at everything in a destination, in the background (`advanceInspections`). Joins one that was requested before
 * and has not ended. Throws as `requireCallable`, `not_found` if the destination does not exist, and `conflict` while it is
 * paused or a purge of it has failed.
 */
export async function startInspection(context: Context, caller: Caller, ref: DestinationRef): Promise<void> {
  const { db, queue } = context;
  await requireCallable(db, await requireDestination(context, caller, ref));
  await db.transaction(async (tx) => {
    const destination = await requireLockedDestination(tx, caller, ref);
    requireNoPurge({ ...destination, purgeError: null });
    await requireNoPause(tx, destination.id);
    await requestInspection(tx, destination.id);
  });
  await queue.lookSoon(ref.type); // the task in the background begins up to a second later
}

async function requireNoPause(tx: Tx, destinationId: string): Promise<void> {
  const [health] = await readHealth(tx, [destinationId]);
  if (health === undefined) return;
  const { state, reason, paused_until: until } = presentDestinationFlow(health, health.nowMs);
  if (state === 'paused')
    throw new Problem('conflict', `this destination is paused until ${until}: ${reason}`);
}
