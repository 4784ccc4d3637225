import type { Tx } from '@secrets/db';
import type { FollowedAssociation } from '../queries/associations/associations-of-secret.ts';
import { isRemovalApproved, lockBrake } from '../queries/changes/removal-brakes.ts';
import { markSourcesGone } from '../queries/changes/source-marks.ts';

/** Returns whether an association may lose entries whose source is gone. If not, it is marked, and the brake decides. */
export async function isAdmitted(
  tx: Tx,
  { id: associationId, destinationId, secretId }: FollowedAssociation,
  removals: number,
): Promise<boolean> {
  if (removals === 0 || (await isRemovalApproved(tx, associationId, removals))) return true;
  await lockBrake(tx, destinationId); // whoever counts the marks counts this one, or approves none as late as it
  await markSourcesGone(tx, [{ associationId, secretId, removals }]);
  return false;
}
