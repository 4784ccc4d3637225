import type { Db } from '@secrets/db';
import {
  countSomeEvents,
  type EventRetention,
  forgetCopiedEvents,
  sweepOutcomeMinutes,
  sweepSomeEvents,
} from '../queries/event-progress.ts';

const pageSize = 5_000;

/**
 * Seconds for which events are kept, and their maximum number. A client that was disconnected for a shorter time misses
 * none.
 */
const defaultRetention: EventRetention = { seconds: 3_600, events: 200_000 };

/** An hour and the minute that has begun, with some reserve. */
const keptMinutes = 65;

/**
 * Adds new events to the outcomes of each minute, and deletes old ones, a page in a transaction. One process at a time
 * does so: the others return at once.
 */
export async function countEvents(
  db: Db,
  isStopping: () => boolean,
  retention: EventRetention = defaultRetention,
): Promise<void> {
  let isMore = true;
  while (isMore && !isStopping()) isMore = await countPage(db, retention);
}

/** Returns whether there is more to do. */
const countPage = (db: Db, retention: EventRetention): Promise<boolean> =>
  db.transaction(async (tx) => {
    await forgetCopiedEvents(tx, pageSize);
    const counted = await countSomeEvents(tx, pageSize);
    if (counted === undefined) return false;
    const swept = await sweepSomeEvents(tx, retention, pageSize);
    await sweepOutcomeMinutes(tx, keptMinutes);
    return counted === pageSize || swept === pageSize;
  });
