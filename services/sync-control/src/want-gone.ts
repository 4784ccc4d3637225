import type { Tx } from '@secrets/db';
import { type Entry, entriesOf, wantAbsent } from '@secrets/sync-entries';
import { deleteAssociations, markRemoving } from './queries/associations.ts';

/**
 * Wants associations gone, whose rows are held: their external secrets first, then they themselves with the last of
 * them. Those without entries go at once. Gives the entries as they were.
 */
export async function wantGone(tx: Tx, associationIds: readonly string[]): Promise<Entry[]> {
  const entries = await entriesOf(tx, associationIds);
  await markRemoving(tx, associationIds);
  await wantAbsent(
    tx,
    entries.map(({ id }) => ({ id, waitsFor: null })),
  );
  const withEntries = new Set(entries.map(({ associationId }) => associationId));
  await deleteAssociations(
    tx,
    associationIds.filter((id) => !withEntries.has(id)),
  );
  return entries;
}
