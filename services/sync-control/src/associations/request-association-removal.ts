import type { Tx } from '@secrets/db';
import { type Entry, entriesOf, type RemovalIntent, requestRemoval } from '@secrets/sync-entries';
import { deleteAssociations, markRemoving } from '../queries/associations/associations.ts';

/**
 * Requests the removal of associations, whose rows must be locked. An association is deleted with its last entry, or
 * immediately if it has none. Returns the entries as they were.
 */
export async function requestAssociationRemoval(
  tx: Tx,
  associationIds: readonly string[],
  intent: RemovalIntent = {},
): Promise<Entry[]> {
  const entries = await entriesOf(tx, associationIds);
  await markRemoving(tx, associationIds);
  await requestRemoval(
    tx,
    entries.map(({ id }) => ({ id, waitsFor: null })),
    intent,
  );
  const withEntries = new Set(entries.map(({ associationId }) => associationId));
  await deleteAssociations(
    tx,
    associationIds.filter((id) => !withEntries.has(id)),
  );
  return entries;
}
