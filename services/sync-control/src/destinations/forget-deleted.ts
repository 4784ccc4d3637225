import type { Db } from '@secrets/db';
import { forgetDeletedDestinations } from '@secrets/sync-entries';

const pageSize = 1_000;

/**
 * Forgets destinations that were deleted long ago: external secrets with their marks can no longer be taken over
 * (docs/conventions/sync.md#ownership). Safe in several processes.
 */
export async function forgetDeleted(db: Db, isStopping: () => boolean): Promise<void> {
  let isMore = true;
  while (isMore && !isStopping()) isMore = (await forgetDeletedDestinations(db, pageSize)) === pageSize;
}
