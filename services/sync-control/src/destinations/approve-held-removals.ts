import type { Caller } from '@secrets/caller';
import type { Context } from '../context.ts';
import { approveRemovalsIfHeld } from '../queries/changes/removal-brakes.ts';
import { type DestinationRef, requireDestination } from './require-destination.ts';

/**
 * Approves the removals that a destination holds because the sources of too many entries are gone. They take place in the
 * background. Returns a warning if nothing was held. Throws `not_found` if the destination does not exist.
 */
export async function approveHeldRemovals(
  context: Context,
  caller: Caller,
  ref: DestinationRef,
): Promise<string[]> {
  const destination = await requireDestination(context, caller, ref);
  const wasHeld = await approveRemovalsIfHeld(context.db, destination.id);
  return wasHeld ? [] : ['this destination holds no removals: there was nothing to confirm'];
}
