import type { Caller } from '@secrets/caller';
import type { Context } from '../../../context.ts';
import { approveRepairsIfHeld } from '../../../queries/destinations/repairs.ts';
import { type DestinationRef, requireDestination } from '../../require-destination.ts';

/**
 * Approves the repairs that a destination holds because too many of its external secrets have drifted. They take place in the
 * background. Returns a warning if nothing was held. Throws `not_found` if the destination does not exist.
 */
export async function approveHeldRepairs(
  context: Context,
  caller: Caller,
  ref: DestinationRef,
): Promise<string[]> {
  const destination = await requireDestination(context, caller, ref);
  const wasHeld = await approveRepairsIfHeld(context.db, destination.id);
  return wasHeld ? [] : ['this destination holds no repairs: there was nothing to confirm'];
}
