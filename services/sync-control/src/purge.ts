import type { Db } from '@secrets/db';
import { lockSomeToRemove } from './queries/associations.ts';
import { deleteDestination, lockDestinationById } from './queries/destinations.ts';
import { requestAssociationRemoval } from './request-association-removal.ts';

const pageSize = 200;

/**
 * Carries every purge under way one step further: requests the removal of the next associations, deletes the destination once none
 * is left, and notes the first failure as `purge_error`. To be called again and again; safe in several processes.
 * A purge of many may end between two pages.
 */
export async function advancePurges(db: Db, isStopping: () => boolean): Promise<void> {
  const purges = await db.query<{ id: string }>(
    'select id from sync.destinations where purge_initiated_at is not null order by purge_initiated_at limit 100',
  );
  for (const { id } of purges) await advancePurge(db, id, isStopping);
}

async function advancePurge(db: Db, destinationId: string, isStopping: () => boolean): Promise<void> {
  while (!isStopping() && (await removeSome(db, destinationId)) === pageSize);
  if (isStopping()) return;
  await db.transaction(async (tx) => {
    await lockDestinationById(tx, destinationId); // nothing is associated with it between the look and the deletion
    const [left] = await tx.query<{ id: string }>(
      'select id from sync.associations where destination_id = $1 limit 1',
      [destinationId],
    );
    if (left === undefined) return deleteDestination(tx, destinationId);
    await recordPurgeError(tx, destinationId);
  });
}

const removeSome = (db: Db, destinationId: string): Promise<number> =>
  db.transaction(async (tx) => {
    const associations = await lockSomeToRemove(tx, destinationId, pageSize);
    const ids = associations.map(({ id }) => id);
    await requestAssociationRemoval(tx, ids);
    return ids.length;
  });

/** The sentence of an entry that waits for the operator; null again when none does. */
const recordPurgeError = (tx: { query: Db['query'] }, destinationId: string) =>
  tx.query(
    `update sync.destinations d set purge_error =
       (select last_error from sync.entries e
         where e.destination_id = d.id and e.desired = 'absent' and e.status = 'CLIENT_SIDE_ERROR' limit 1)
      where id = $1`,
    [destinationId],
  );
