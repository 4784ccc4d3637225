import type { Db } from '@secrets/db';
import { removalError } from '@secrets/sync-entries';
import { requestAssociationRemoval } from '../associations/request-association-removal.ts';
import { countAssociations } from '../queries/association-counts.ts';
import { lockSomeToRemove } from '../queries/association-pages.ts';
import { deleteDestination } from '../queries/destinations.ts';
import { destinationsInPurge, lockDestinationById, recordPurgeError } from '../queries/purges.ts';

const pageSize = 200;

/**
 * Advances every purge by one step: requests the removal of the remaining associations, deletes the destination when none
 * is left, and records the first failure as `purge_error`. Called periodically; safe in several processes. When
 * the service stops, a purge of many associations ends between two pages.
 */
export async function advancePurges(db: Db, isStopping: () => boolean): Promise<void> {
  for (const id of await destinationsInPurge(db)) await advancePurge(db, id, isStopping);
}

async function advancePurge(db: Db, destinationId: string, isStopping: () => boolean): Promise<void> {
  while (!isStopping() && (await removeSome(db, destinationId)) === pageSize);
  if (isStopping()) return;
  await db.transaction(async (tx) => {
    await lockDestinationById(tx, destinationId); // so that no association is added before the destination is deleted
    const left = await countAssociations(tx, destinationId, 1);
    if (left === 0) return deleteDestination(tx, destinationId);
    await recordPurgeError(tx, destinationId, await removalError(tx, destinationId));
  });
}

const removeSome = (db: Db, destinationId: string): Promise<number> =>
  db.transaction(async (tx) => {
    const associations = await lockSomeToRemove(tx, destinationId, pageSize);
    const ids = associations.map(({ id }) => id);
    await requestAssociationRemoval(tx, ids);
    return ids.length;
  });
