import type { Db, Tx } from '@secrets/db';
import { countFailedBeforeRetry, retryFailed } from '@secrets/sync-entries';
import { endRetry, initiateRetry, lockMarked } from '../queries/destination-marks.ts';

const pageSize = 500;

/**
 * Retries everything that has failed in a destination. The row of the destination must be locked.
 * The first page is retried at once, the others in the background (`advanceRetry`).
 */
export async function retryAllFailed(tx: Tx, destinationId: string): Promise<void> {
  await initiateRetry(tx, destinationId);
  await retryPage(tx, destinationId);
}

/** Retries one page of what failed in a destination. Returns whether there is another page. */
export const advanceRetry = (db: Db, destinationId: string): Promise<boolean> =>
  db.transaction(async (tx) => {
    if (!(await lockMarked(tx, destinationId, 'retry_initiated_at'))) return false;
    return retryPage(tx, destinationId);
  });

async function retryPage(tx: Tx, destinationId: string): Promise<boolean> {
  await retryFailed(tx, destinationId, pageSize);
  const isMore = (await countFailedBeforeRetry(tx, destinationId, 1)) > 0;
  if (!isMore) await endRetry(tx, destinationId);
  return isMore;
}
