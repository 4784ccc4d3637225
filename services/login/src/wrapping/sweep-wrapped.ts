import type { Db } from '@secrets/db';
import { deletePageOfWrappedResponses } from '../queries/wrapped-responses.ts';

const pageSize = 500;

/**
 * Deletes the wrapped responses that have expired, page by page. Returns their number. It may run in several processes
 * at once.
 */
export async function sweepWrappedResponses(
  db: Db,
  isStopping: () => boolean = () => false,
): Promise<number> {
  let total = 0;
  for (let deleted = pageSize; deleted === pageSize && !isStopping(); total += deleted)
    deleted = await deletePageOfWrappedResponses(db, pageSize);
  return total;
}
