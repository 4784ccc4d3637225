import type { Db } from '@secrets/db';
import { countPresent } from '@secrets/sync-entries';
import { lockBrake } from '../../../queries/changes/removal-brakes.ts';
import { lockAssociations, markSourcesGone } from '../../../queries/changes/source-marks.ts';
import { endHolds, listUnheld } from '../../../queries/rules/rule-holds.ts';

/**
 * Ends the holds of a rule on associations of its destination. Those that nothing else holds are marked like those whose secret
 * is gone: the brake decides whether they are removed (docs/conventions/rules.md#what-holds-an-association). With `keeps`, they
 * are held by hand.
 */
export const releaseHolds = (
  db: Db,
  { id, destinationId }: { id: string; destinationId: string },
  associationIds: readonly string[],
  keeps = false,
): Promise<void> =>
  db.transaction(async (tx) => {
    await lockAssociations(tx, associationIds);
    await endHolds(tx, id, associationIds, keeps);
    const unheld = await listUnheld(tx, associationIds);
    if (unheld.length === 0) return;
    await lockBrake(tx, destinationId); // an approval that is being made now covers none of these marks
    const present = await countPresent(
      tx,
      unheld.map(({ associationId }) => associationId),
    );
    await markSourcesGone(
      tx,
      unheld.map((one) => ({ ...one, removals: present.get(one.associationId) ?? 0 })),
    );
  });
