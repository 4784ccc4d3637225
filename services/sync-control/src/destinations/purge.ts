import type { Db } from '@secrets/db';
import { removalError } from '@secrets/sync-entries';
import { requestAssociationRemoval } from '../associations/request-association-removal.ts';
import { countAssociations } from '../queries/association-counts.ts';
import { lockSomeToRemove } from '../queries/association-pages.ts';
import { lockMarked } from '../queries/destination-marks.ts';
import { deleteDestination } from '../queries/destinations.ts';
import { recordPurgeError } from '../queries/purges.ts';

const pageSize = 200;

/**
 * Advances a purge by one page: requests the removal of associations. After the last page, deletes the destination when no
 * association is left, and otherwise records the first failure as `purge_error`. Does nothing if the purge has ended. Returns
 * whether there may be another page.
 */
export async function advancePurge(db: Db, destinationId: string): Promise<boolean> {
  if ((await removeSome(db, destinationId)) === pageSize) return true;
  if ((await countAssociations(db, destinationId, 1)) === 0) await deletePurged(db, destinationId);
  else await recordError(db, destinationId);
  return false;
}

const removeSome = (db: Db, destinationId: string): Promise<number> =>
  db.transaction(async (tx) => {
    if (!(await lockMarked(tx, destinationId, 'purge_initiated_at'))) return 0;
    const associations = await lockSomeToRemove(tx, destinationId, pageSize);
    const ids = associations.map(({ id }) => id);
    await requestAssociationRemoval(tx, ids);
    return ids.length;
  });

const deletePurged = (db: Db, destinationId: string): Promise<void> =>
  db.transaction(async (tx) => {
    if (!(await lockMarked(tx, destinationId, 'purge_initiated_at', { toDelete: true }))) return;
    if ((await countAssociations(tx, destinationId, 1)) === 0) await deleteDestination(tx, destinationId);
  });

const recordError = (db: Db, destinationId: string): Promise<void> =>
  db.transaction(async (tx) => {
    if (!(await lockMarked(tx, destinationId, 'purge_initiated_at'))) return;
    await recordPurgeError(tx, destinationId, await removalError(tx, destinationId));
  });
