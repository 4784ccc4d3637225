import type { Tx } from '@secrets/db';
import type { FollowedAssociation } from '../queries/associations-of-secret.ts';
import { markSourcesGone } from '../queries/source-marks.ts';
import { admitRemovals, type RemovalBrake } from './removal-brake.ts';

/** Returns whether an association may lose entries whose source is gone. If not, it is marked. */
export async function isAdmitted(
  tx: Tx,
  brake: RemovalBrake,
  { id: associationId, destinationId, secretId }: FollowedAssociation,
  removals: number,
): Promise<boolean> {
  if (removals === 0) return true;
  const isAdmittedNow = await admitRemovals(tx, brake, { destinationId, associationId, removals });
  if (!isAdmittedNow) await markSourcesGone(tx, [{ associationId, secretId, removals }]);
  return isAdmittedNow;
}
