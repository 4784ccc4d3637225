import type { Db } from '@secrets/db';
import { Problem } from '@secrets/domain';
import { associationsDueToPush, removalError } from '@secrets/sync-entries';
import { requestAssociationRemoval } from '../../associations/request-association-removal.ts';
import { countAssociations } from '../../queries/associations/association-counts.ts';
import {
  beforeFirst,
  listSomeToRemove,
  lockSomeToRemove,
} from '../../queries/associations/association-pages.ts';
import { findAssociation } from '../../queries/associations/associations.ts';
import { lockMarked, type MarkedDestinationRow } from '../../queries/destinations/destination-marks.ts';
import { deleteDestinationRow } from '../../queries/destinations/destinations.ts';
import { recordPurgeError, recordPurgePosition } from '../../queries/destinations/purges.ts';
import { failureText } from './failure-text.ts';

const pageSize = 200;

/**
 * Advances a purge by one page: requests the removal of associations. After the last page, deletes the destination when
 * no association is left, and otherwise records the first failure as `purge_error`. Does nothing if the purge has
 * ended. Returns whether there may be another page. Throws if associations could not be removed, after the others of
 * their page were: the next page begins after them, and they are tried again once every page was.
 */
export async function advancePurge(
  db: Db,
  { id, purgeError, purgePosition }: Pick<MarkedDestinationRow, 'id' | 'purgeError' | 'purgePosition'>,
): Promise<boolean> {
  const { isMore, failures } = await removeSome(db, id, purgePosition);
  if (!isMore) {
    if ((await countAssociations(db, id, 1)) === 0) await deletePurged(db, id);
    else await recordError(db, id, purgeError);
  }
  await throwFailures(db, failures);
  return isMore;
}

interface Failure {
  associationId: string;
  error: unknown;
}

interface RemovedPage {
  isMore: boolean;
  failures: Failure[];
}

/** Removes the page after a position, and after the last one the first page again: some of it may have failed or been locked. */
async function removeSome(db: Db, destinationId: string, after: string): Promise<RemovedPage> {
  const page = await removeAfter(db, destinationId, after);
  const isLast = !page.isMore && page.failures.length === 0;
  return isLast && after !== beforeFirst ? removeAfter(db, destinationId, beforeFirst) : page;
}

async function removeAfter(db: Db, destinationId: string, after: string): Promise<RemovedPage> {
  const range = { after, limit: pageSize };
  try {
    return { isMore: (await removePage(db, destinationId, null, range)) === pageSize, failures: [] };
  } catch {
    const ids = await listSomeToRemove(db, destinationId, range);
    const failures = await removeEach(db, destinationId, ids);
    const isMore = ids.length === pageSize;
    await recordPurgePosition(db, destinationId, isMore ? ids.at(-1)! : beforeFirst);
    return { isMore, failures };
  }
}

/** Requests the removal of each of these associations in a transaction of its own. Returns the failures. */
async function removeEach(db: Db, destinationId: string, ids: readonly string[]): Promise<Failure[]> {
  const failures: Failure[] = [];
  for (const associationId of ids)
    await removePage(db, destinationId, [associationId]).catch((error: unknown) =>
      failures.push({ associationId, error }),
    );
  return failures;
}

/** Throws a sentence that names the first association and says how many there are. */
async function throwFailures(db: Db, [first, ...others]: readonly Failure[]): Promise<void> {
  if (first === undefined) return;
  const association = await findAssociation(db, first.associationId);
  const name =
    association === undefined ? 'an association' : `${association.mount}/${association.secretName}`;
  const more = others.length === 0 ? '' : ` and ${others.length} other associations`;
  throw new Problem('unavailable', `${name}${more} could not be removed: ${failureText(first.error)}`, {
    cause: first.error,
  });
}

/**
 * Requests the removal of a page of associations that are about to be pushed, so that they are not pushed first. That
 * adds nothing to the queue. Returns whether there may be another page. Throws as `advancePurge`.
 */
export async function withdrawPushes(db: Db, destinationId: string): Promise<boolean> {
  const ids = await associationsDueToPush(db, destinationId, pageSize);
  if (ids.length === 0) return false;
  try {
    return (await removePage(db, destinationId, ids)) > 0;
  } catch {
    await throwFailures(db, await removeEach(db, destinationId, ids));
    return true;
  }
}

/** Requests the removal of a page of associations, of the given ones if there are any. Returns how many there were. */
const removePage = (
  db: Db,
  destinationId: string,
  associationIds: readonly string[] | null,
  range = { after: beforeFirst, limit: pageSize },
): Promise<number> =>
  db.transaction(async (tx) => {
    if (!(await lockMarked(tx, destinationId, 'purge_initiated_at'))) return 0;
    const ids = await lockSomeToRemove(tx, destinationId, associationIds, range);
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
