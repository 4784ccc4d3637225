import type { Caller } from '@secrets/caller';
import type { Problem } from '@secrets/domain';
import { type Entry, isPending, readSyncConfig } from '@secrets/sync-entries';
import type { Context } from '../context.ts';
import { type DestinationRef, requireDestination } from '../destinations/require-destination.ts';
import { type AssociationRow, lockAssociation } from '../queries/associations/associations.ts';
import { endHoldByHand } from '../queries/rules/rule-holds.ts';
import { requestAssociationRemoval } from './request-association-removal.ts';

export interface RemovalRequest extends DestinationRef {
  mount: string;
  secretName: string;
  /** Whether its external secrets stay in the store. */
  keep?: boolean;
}

/**
 * Removes an association (docs/conventions/sync.md#remove): unsyncs or releases its external secrets; the association
 * disappears when that has succeeded. If rules hold it, only its hold by hand ends. Waits up to `waitMs`. Returns the association
 * and its entries as they were, with the rules that still hold it, or undefined if there was none, which is a success too.
 * Throws `not_found` if the destination does not exist, `queue_full` if there is no room.
 */
export async function disassociate(
  context: Context,
  caller: Caller,
  request: RemovalRequest,
  waitMs: number,
): Promise<{ association: AssociationRow; entries: Entry[]; heldBy: string[] } | undefined> {
  const destination = await requireDestination(context, caller, request);
  const { stoppedBecause } = await readSyncConfig(context.db);
  const full = await context.queue.room.whyFull(1);
  const removed = await recordRemovalIntent(context, destination.id, request, full);
  if (removed === undefined || removed.heldBy.length > 0) return removed;
  context.queue.notify();
  await context.queue.outcome(removed.association.id, stoppedBecause === null ? waitMs : 0);
  return removed;
}

/** Throws `full` only if the queue would grow: an association whose entries are all pending adds nothing. */
const recordRemovalIntent = (
  context: Context,
  destinationId: string,
  { mount, secretName, keep = false }: RemovalRequest,
  full: Problem | undefined,
) =>
  context.db.transaction(async (tx) => {
    const association = await lockAssociation(tx, destinationId, mount, secretName);
    if (association === undefined) return undefined;
    const heldBy = association.removing ? [] : await endHoldByHand(tx, association.id);
    if (heldBy.length > 0) return { association, entries: [], heldBy };
    const entries = await requestAssociationRemoval(tx, [association.id], { keep });
    if (full !== undefined && !entries.every(isPending)) throw full;
    return { association, entries, heldBy };
  });
