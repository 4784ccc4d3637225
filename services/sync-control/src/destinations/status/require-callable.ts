import type { Db } from '@secrets/db';
import { Problem } from '@secrets/domain';
import { hasWorker, readSyncConfig, throttledSeconds } from '@secrets/sync-entries';
import type { DestinationRow } from '../../queries/destinations/destinations.ts';
import { requireNoPurge } from '../background/require-no-purge.ts';

/**
 * Requires that a worker can call the destination now. Throws `conflict` while it is being purged or syncing is disabled,
 * `rate_limited` while its account is throttled, `unavailable` if no worker of the type is running.
 */
export async function requireCallable(db: Db, destination: DestinationRow): Promise<void> {
  const { id, type } = destination;
  requireNoPurge(destination);
  if (await isDisabled(db)) throw disabled();
  const seconds = await throttledSeconds(db, id);
  if (seconds > 0)
    throw new Problem('rate_limited', 'the provider throttles the account of this destination', {
      retryAfterSeconds: seconds,
    });
  if (!(await hasWorker(db, type))) throw new Problem('unavailable', `no worker of type ${type} is running`);
}

export const isDisabled = async (db: Db): Promise<boolean> => (await readSyncConfig(db)).disabled;

export const disabled = () =>
  new Problem('conflict', 'syncing is disabled, so nothing is sent to any destination');

/** The problem of calls that the budget of the destination's account does not permit now. */
export const budgetSpent = (calls: number, perSecond: number): Problem =>
  new Problem(
    'rate_limited',
    'the account of this destination has spent its budget of calls; try again later',
    { retryAfterSeconds: Math.ceil(calls / perSecond) },
  );
