import type { Caller } from '@secrets/caller';
import { notFound } from '@secrets/domain';
import type { Context } from '../context.ts';
import { findDestination } from '../queries/destinations.ts';
import { approveRemovalsIfHeld } from '../queries/removal-brakes.ts';

/**
 * Confirms the removals that a destination holds because the sources of too many entries are gone. They take place in the
 * background. Returns a warning if nothing was held. Throws `not_found` if the destination does not exist.
 */
export async function confirmRemovals(
  context: Context,
  caller: Caller,
  { type, name }: { type: string; name: string },
): Promise<string[]> {
  const destination = await findDestination(context.db, { namespaceId: caller.namespace.id, type, name });
  if (destination === undefined) throw notFound();
  const wasHeld = await approveRemovalsIfHeld(context.db, destination.id);
  return wasHeld ? [] : ['this destination holds no removals: there was nothing to confirm'];
}
