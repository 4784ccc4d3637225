import type { Db } from '@secrets/db';
import { Problem } from '@secrets/domain';
import { hasWorker, readSyncConfig, type SyncState, throttledSeconds } from '@secrets/sync-entries';
import type { DestinationRow } from '../../queries/destinations/destinations.ts';
import { requireNoPurge } from '../background/require-no-purge.ts';

/**
 * Requires that a worker can call the destination now. Throws `conflict` while it is being purged, or syncing is disabled or
 * held, `rate_limited` while its account is throttled, `unavailable` if no worker of the type is running.
 */
export async function requireCallable(db: Db, destination: DestinationRow): Promise<void> {
  const { id, type } = destination;
  requireNoPurge(destination);
  const because = await whyStopped(db);
  if (because !== null) throw stopped(because);
  const seconds = await throttledSeconds(db, id);
  if (seconds > 0)
    throw new Problem('rate_limited', 'the provider throttles the account of this destination', {
      retryAfterSeconds: seconds,
    });
  if (!(await hasWorker(db, type))) throw new Problem('unavailable', `no worker of type ${type} is running`);
}

/** Why syncing is stopped; null if it is not. */
export const whyStopped = async (db: Db): Promise<SyncState['stoppedBecause']> =>
  (await readSyncConfig(db)).stoppedBecause;

/** The problem of a call while syncing is stopped, or was a moment ago. */
export function stopped(because: SyncState['stoppedBecause']): Problem {
  const state = because === 'held' ? 'held, as sys/sync/status explains' : 'disabled';
  return new Problem('conflict', `syncing is ${state}, so nothing is sent to any destination`);
}

/** The problem of calls that the budget of the destination's account does not permit now. */
export const budgetSpent = (calls: number, perSecond: number): Problem =>
  new Problem(
    'rate_limited',
    'the account of this destination has spent its budget of calls; try again later',
    { retryAfterSeconds: Math.ceil(calls / perSecond) },
  );
