import type { Db, Sql, Tx } from '@secrets/db';
import { countFailedBeforeRetry, type FailedKind, retryFailed } from '@secrets/sync-entries';
import {
  endRetry,
  initiateRetry,
  isRetryOfAll,
  lockMarked,
} from '../../queries/destinations/destination-marks.ts';

const pageSize = 500;

/** Entries to retry: those that were refused, or all that wait for the operator or have failed. */
interface RetryScope {
  all: boolean;
}

const failuresIn = ({ all }: RetryScope): FailedKind[] => (all ? ['waiting', 'postponed'] : ['refused']);

/**
 * Retries the entries of a destination that were refused. With `all`, also those that would be retried automatically, and those
 * whose external secrets somebody else has changed: a write of the destination does not overwrite these. The row of the
 * destination must be locked. The first page is retried at once, the others in the background (`advanceRetry`).
 */
export async function retryFailedEntries(tx: Tx, destinationId: string, scope: RetryScope): Promise<void> {
  await initiateRetry(tx, destinationId, scope);
  await retryPage(tx, destinationId);
}

/** Retries one page of the failed entries of a destination. Returns whether there is another page. */
export const advanceRetry = (db: Db, destinationId: string): Promise<boolean> =>
  db.transaction(async (tx) => {
    if (!(await lockMarked(tx, destinationId, 'retry_initiated_at'))) return false;
    return retryPage(tx, destinationId);
  });

async function retryPage(tx: Tx, destinationId: string): Promise<boolean> {
  const scope = { all: await isRetryOfAll(tx, destinationId) };
  for (const which of failuresIn(scope)) await retryFailed(tx, destinationId, pageSize, which);
  const isMore = (await countToRetry(tx, destinationId, scope, 1)) > 0;
  if (!isMore) await endRetry(tx, destinationId);
  return isMore;
}

/** Returns the number of entries that are yet to be retried, counted up to `limit`. */
export async function countToRetry(
  sql: Sql,
  destinationId: string,
  scope: RetryScope,
  limit: number,
): Promise<number> {
  let count = 0;
  for (const which of failuresIn(scope))
    count += await countFailedBeforeRetry(sql, destinationId, limit, which);
  return Math.min(count, limit);
}
