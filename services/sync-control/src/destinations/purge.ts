import type { Db } from '@secrets/db';
import { associationsDueToPush, removalError } from '@secrets/sync-entries';
import { requestAssociationRemoval } from '../associations/request-association-removal.ts';
import { countAssociations } from '../queries/association-counts.ts';
import { listSomeToRemove, lockSomeToRemove } from '../queries/association-pages.ts';
import { lockMarked, type MarkedDestinationRow } from '../queries/destination-marks.ts';
import { deleteDestinationRow } from '../queries/destinations.ts';
import { recordPurgeError } from '../queries/purges.ts';

const pageSize = 200;

/**
 * Advances a purge by one page: requests the removal of associations. After the last page, deletes the destination when no
 * association is left, and otherwise records the first failure as `purge_error`. Does nothing if the purge has ended. Returns
 * whether there may be another page. Throws if an association could not be removed, after the others of its page were.
 */
export async function advancePurge(
  db: Db,
  { id, purgeError }: Pick<MarkedDestinationRow, 'id' | 'purgeError'>,
): Promise<boolean> {
  if ((await removeSome(db, id)) === pageSize) return true;
  if ((await countAssociations(db, id, 1)) === 0) await deletePurged(db, id);
  else await recordError(db, id, purgeError);
  return false;
}

async function removeSome(db: Db, destinationId: string): Promise<number> {
  try {
    return await removePage(db, destinationId, null);
  } catch (error) {
    for (const id of await listSomeToRemove(db, destinationId, pageSize))
      await removePage(db, destinationId, [id]).catch(() => undefined); // the error of the page is reported
    throw error;
  }
}

/**
 * Requests the removal of a page of associations that are about to be pushed, so that they are not pushed first. That adds nothing to the
 * queue. Returns whether there may be another page.
 */
export async function withdrawPushes(db: Db, destinationId: string): Promise<boolean> {
  const ids = await associationsDueToPush(db, destinationId, pageSize);
  return ids.length > 0 && (await removePage(db, destinationId, ids)) > 0;
}

/** Requests the removal of a page of associations, of the given ones if there are any. Returns how many there were. */
const removePage = (
  db: Db,
  destinationId: string,
  associationIds: readonly string[] | null,
): Promise<number> =>
  db.transaction(async (tx) => {
    if (!(await lockMarked(tx, destinationId, 'purge_initiated_at'))) return 0;
    const ids = await lockSomeToRemove(tx, destinationId, associationIds, pageSize);
    await requestAssociationRemoval(tx, ids);
    return ids.length;
  });

const deletePurged = (db: Db, destinationId: string): Promise<void> =>
  db.transaction(async (tx) => {
    if (!(await lockMarked(tx, destinationId, 'purge_initiated_at', { toDelete: true }))) return;
    if ((await countAssociations(tx, destinationId, 1)) === 0) await deleteDestinationRow(tx, destinationId);
  });

/** Locks and writes nothing if the error is the known one. */
async function recordError(db: Db, destinationId: string, known: string | null): Promise<void> {
  if ((await removalError(db, destinationId)) === known) return;
  await db.transaction(async (tx) => {
    if (!(await lockMarked(tx, destinationId, 'purge_initiated_at'))) return;
    await recordPurgeError(tx, destinationId, await removalError(tx, destinationId));
  });
}
