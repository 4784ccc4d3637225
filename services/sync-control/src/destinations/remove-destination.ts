import type { Caller } from '@secrets/caller';
import type { Tx } from '@secrets/db';
import { invalid } from '@secrets/domain';
import { cancelInspection, liftPause } from '@secrets/sync-entries';
import type { Context } from '../context.ts';
import { countAssociations } from '../queries/associations/association-counts.ts';
import { deleteDestinationRow, lockDestination } from '../queries/destinations/destinations.ts';
import { initiatePurge } from '../queries/destinations/purges.ts';
import { listLastingRules } from '../queries/rules/rules.ts';
import { forceDelete } from './background/force-delete.ts';
import { retryFailedEntries } from './background/retry-failed.ts';
import { type DestinationRef, destinationKey } from './require-destination.ts';

/** The refusal states the number of associations up to this one. */
const maxCounted = 10_000;

interface DeletionOptions {
  /** Unsyncs everything first, in the background. */
  purge: boolean;
  /** Purges, but leaves the external secrets in the store. */
  keep?: boolean;
  /** Deletes it and its associations without calling the provider. */
  force: boolean;
}

/**
 * Deletes a destination if it exists (docs/conventions/sync.md#deleting-a-destination). Throws `invalid` if it still has
 * associations or rules, unless it is purged or the deletion is forced; `queue_full` if there is no room for a purge.
 */
export async function removeDestination(
  context: Context,
  caller: Caller,
  ref: DestinationRef,
  { purge, keep = false, force }: DeletionOptions,
): Promise<void> {
  const isPurge = purge || keep;
  const full = isPurge ? await context.queue.room.whyFull(1) : undefined;
  if (full !== undefined) throw full;
  await context.db.transaction(async (tx) => {
    const destination = await lockDestination(tx, destinationKey(caller, ref));
    if (destination === undefined) return;
    if (force) return forceDelete(tx, destination.id);
    const associations = await countAssociations(tx, destination.id, maxCounted + 1);
    if (associations === 0) {
      if (!isPurge) await requireNoRules(tx, destination.id);
      return deleteDestinationRow(tx, destination.id);
    }
    if (isPurge) {
      if (destination.purgeInitiatedAt !== null) await liftPause(tx, destination.id);
      const all = destination.purgeInitiatedAt !== null;
      await retryFailedEntries(tx, destination.id, { all }); // what an earlier purge could not remove
      await cancelInspection(tx, destination.id);
      return initiatePurge(tx, destination.id, { keep });
    }
    const sentence = `this destination still manages ${inWords(associations)}`;
    throw invalid(
      `${sentence}; remove them first, or delete with purge=true, or with keep=true to leave the external secrets`,
    );
  });
}

/** Rules that the refusal names. */
const maxNamed = 10;

/** Rules may associate secrets that do not exist yet. */
async function requireNoRules(tx: Tx, destinationId: string): Promise<void> {
  const names = await listLastingRules(tx, destinationId, maxNamed + 1);
  if (names.length === 0) return;
  const shown = names.length > maxNamed ? [...names.slice(0, maxNamed), 'others'] : names;
  throw invalid(
    `this destination still has rules: ${shown.join(', ')}; delete them first, or delete with purge=true`,
  );
}

function inWords(associations: number): string {
  if (associations > maxCounted) return `more than ${maxCounted} associations`;
  return `${associations} association${associations === 1 ? '' : 's'}`;
}
