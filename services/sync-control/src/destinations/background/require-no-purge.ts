import type { Tx } from '@secrets/db';
import { Problem } from '@secrets/domain';
import type { DestinationRow } from '../../queries/destinations/destinations.ts';
import { endPurge } from '../../queries/destinations/purges.ts';

type Purged = Pick<DestinationRow, 'id' | 'purgeInitiatedAt' | 'purgeError'>;

/** Throws `conflict` while a purge runs that has not failed: what is written to the destination would be deleted with it. */
export function requireNoPurge({ purgeInitiatedAt, purgeError }: Omit<Purged, 'id'>): void {
  if (purgeInitiatedAt === null || purgeError !== null) return;
  throw new Problem(
    'conflict',
    `this destination is being purged (since ${purgeInitiatedAt.toISOString()}): nothing can be written to it or associated with it; ` +
      'once reading it returns 404, create it again; deleting it with purge=true once more retries what could not be removed',
  );
}

/**
 * Requires that a destination, whose row is locked, is not being purged. Ends a purge that has failed, and returns
 * whether there was one.
 */
export async function requireInUse(tx: Tx, destination: Purged): Promise<boolean> {
  requireNoPurge(destination);
  if (destination.purgeInitiatedAt === null) return false;
  await endPurge(tx, destination.id);
  return true;
}
