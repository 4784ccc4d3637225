import type { Tx } from '@secrets/db';
import { liftPause } from '@secrets/sync-entries';
import { type Logger, logFailure } from '@secrets/telemetry';
import type { Context } from '../../context.ts';
import {
  listAppsToReconnect,
  lockReconnect,
  reconnectSomeUsers,
  recordReconnected,
} from '../../queries/destinations/codehost-apps.ts';

const pageSize = 20;

/**
 * Reconnects one page of the destinations that use a changed application: workers connect to them again, their pauses end for one
 * attempt, and entries that wait for the operator are retried. Returns whether there may be another page.
 */
export async function reconnectPage(tx: Tx, appId: string): Promise<boolean> {
  const after = await lockReconnect(tx, appId);
  if (after === undefined) return false;
  const destinationIds = await reconnectSomeUsers(tx, appId, { after, limit: pageSize });
  for (const id of destinationIds) await liftPause(tx, id);
  const isMore = destinationIds.length === pageSize;
  await recordReconnected(tx, appId, isMore ? destinationIds.at(-1)! : null);
  return isMore;
}

/**
 * Reconnects the destinations of all changed applications. The applications take turns, one page of each. A page is
 * recorded with its result, so this may run in several processes, stop between two pages, and continue after a crash. A
 * page that fails is logged and tried again in the next run.
 */
export async function advanceReconnects(
  { db, log, queue }: Pick<Context, 'db'> & { log: Logger; queue: Pick<Context['queue'], 'notify'> },
  isStopping: () => boolean,
): Promise<void> {
  let unfinished = await listAppsToReconnect(db);
  while (unfinished.length > 0 && !isStopping()) {
    const next: string[] = [];
    for (const appId of unfinished) {
      const isMore = await db
        .transaction((tx) => reconnectPage(tx, appId))
        .catch((error: unknown) => {
          logFailure(
            log,
            { error, appId },
            'destinations of an application were not reconnected; will be retried',
          );
          return false;
        });
      if (isMore) next.push(appId);
    }
    queue.notify();
    unfinished = next;
  }
}
