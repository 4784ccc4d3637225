import type { Db } from '@secrets/db';
import { deleteExpiredTokens } from '../queries/tokens.ts';

const pageSize = 500;

/** Deletes every token that has ended, page by page. Gives how many. */
export async function sweepTokens(db: Db, isStopping: () => boolean = () => false): Promise<number> {
  let total = 0;
  for (;;) {
    const gone = await deleteExpiredTokens(db, pageSize);
    total += gone;
    if (gone < pageSize || isStopping()) return total;
  }
}
