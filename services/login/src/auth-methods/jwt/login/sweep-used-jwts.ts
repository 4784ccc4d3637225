import type { Sql } from '@secrets/db';
import { deletePageOfUsedJwts } from '../queries/used-jwts.ts';

const pageSize = 1_000;

/** Deletes the records of JWTs that have expired, page by page. It may run in several processes at once. */
export async function sweepUsedJwts(db: Sql, isStopping: () => boolean): Promise<void> {
  for (let deleted = pageSize; deleted === pageSize && !isStopping(); )
    deleted = await deletePageOfUsedJwts(db, pageSize);
}
