import type { Db, Tx } from '@secrets/db';
import { deleteSomeEntries } from '@secrets/sync-entries';
import { deleteSomeAssociations } from '../../queries/associations/association-pages.ts';
import { initiateDeletion, lockMarked } from '../../queries/destinations/destination-marks.ts';
import { deleteDestinationRow } from '../../queries/destinations/destinations.ts';

const pageSize = 500;

/**
 * Deletes a destination, whose row must be locked, without calling the provider. It disappears from the API at once. A small
 * one is deleted completely, of a larger one the rest is deleted in the background (`advanceDeletion`).
 */
export async function forceDelete(tx: Tx, destinationId: string): Promise<void> {
  await initiateDeletion(tx, destinationId);
  await deletePage(tx, destinationId);
}

/** Deletes one page of a destination that was deleted by force. Returns whether there may be another page. */
export const advanceDeletion = (db: Db, destinationId: string): Promise<boolean> =>
  db.transaction(async (tx) => {
    if (!(await lockMarked(tx, destinationId, 'deleted_at', { toDelete: true }))) return false;
    return deletePage(tx, destinationId);
  });

/** Entries before their associations: an association may have thousands of entries. */
async function deletePage(tx: Tx, destinationId: string): Promise<boolean> {
  if ((await deleteSomeEntries(tx, destinationId, pageSize)) === pageSize) return true;
  if ((await deleteSomeAssociations(tx, destinationId, pageSize)) === pageSize) return true;
  await deleteDestinationRow(tx, destinationId);
  return false;
}
