import type { Db } from '@secrets/db';
import { deleteExpiredTokens } from '../queries/revocations.ts';

const pageSize = 500;

/** Deletes every token that has expired or is used up, page by page. Returns their number. */
export async function sweepTokens(db: Db, isStopping: () => boolean = () => false): Promise<number> {
  let total = 0;
  for (;;) {
    const deleted = await deleteExpiredTokens(db, pageSize);
    total += deleted;
    if (deleted < pageSize || isStopping()) return total;
  }
}
