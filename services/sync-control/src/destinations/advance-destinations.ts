import type { Db } from '@secrets/db';
import type { Logger } from '@secrets/telemetry';
import { type MarkedDestination, markedDestinations } from '../queries/destination-marks.ts';
import { advanceDeletion } from './force-delete.ts';
import { advancePurge } from './purge.ts';
import { advanceRetry } from './retry-failed.ts';

/**
 * Advances all work on whole destinations until only waiting is left: purges, forced deletions and retries. Destinations
 * take turns, one page each. Each page is one transaction, which first verifies that the work has not ended, so this may run in
 * several processes, stop between two pages, and continue after a crash. A failure in one destination is logged and does
 * not hold up the others.
 */
export async function advanceDestinations(
  { db, log }: { db: Db; log: Logger },
  isStopping: () => boolean,
): Promise<void> {
  let unfinished = await markedDestinations(db);
  while (unfinished.length > 0 && !isStopping()) {
    const next: MarkedDestination[] = [];
    for (const destination of unfinished) {
      if (isStopping()) return;
      if (await advanceLogged(db, log, destination)) next.push(destination);
    }
    unfinished = next;
  }
}

async function advanceLogged(db: Db, log: Logger, destination: MarkedDestination): Promise<boolean> {
  try {
    return await advance(db, destination);
  } catch (error) {
    const { id: destinationId } = destination;
    log.warn({ error, destinationId }, 'background work on a destination failed; will be retried');
    return false;
  }
}

async function advance(db: Db, { id, isDeleted, isInPurge, isRetried }: MarkedDestination): Promise<boolean> {
  if (isDeleted) return advanceDeletion(db, id);
  const isRetriedFurther = isRetried && (await advanceRetry(db, id));
  const isPurgedFurther = isInPurge && (await advancePurge(db, id));
  return isRetriedFurther || isPurgedFurther;
}
