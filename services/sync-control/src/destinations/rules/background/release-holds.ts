import type { Db } from '@secrets/db';
import { countPresent } from '@secrets/sync-entries';
import { lockBrake } from '../../../queries/changes/removal-brakes.ts';
import { lockAssociations, markSourcesGone } from '../../../queries/changes/source-marks.ts';
import {
  endHolds,
  type HoldingRule,
  isRuleUnchanged,
  listUnheld,
} from '../../../queries/rules/rule-holds.ts';
import type { RuleRow } from '../../../queries/rules/rules.ts';

/**
 * Ends the holds of a rule on associations of its destination. Those that nothing else holds are marked like those whose secret
 * is gone: the brake decides whether they are removed (docs/conventions/rules.md#what-holds-an-association). With `keeps`, they
 * are held by hand. Returns false, without an effect, if the rule was written since it was read.
 */
export const releaseHolds = (
  db: Db,
  rule: HoldingRule & Pick<RuleRow, 'destinationId'>,
  associationIds: readonly string[],
  keeps = false,
): Promise<boolean> =>
  db.transaction(async (tx) => {
    if (!(await isRuleUnchanged(tx, rule))) return false;
    await lockAssociations(tx, associationIds);
    await endHolds(tx, rule.id, associationIds, keeps);
    const unheld = await listUnheld(tx, associationIds);
    if (unheld.length === 0) return true;
    await lockBrake(tx, rule.destinationId); // an approval that is being made now covers none of these marks
    const present = await countPresent(
      tx,
      unheld.map(({ associationId }) => associationId),
    );
    await markSourcesGone(
      tx,
      unheld.map((one) => ({ ...one, removals: present.get(one.associationId) ?? 0 })),
    );
    return true;
  });
