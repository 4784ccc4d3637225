import { Problem } from '@secrets/domain';
import type { Context } from '../../../context.ts';
import type { PreparedRule } from '../prepare-rule.ts';
import { countChanges, isSameSelection, type RuleCounts } from './count-changes.ts';
import { fingerprintOf, needsConfirmation } from './fingerprint.ts';

/**
 * Throws `conflict` if a write of a rule changes so much that it needs the fingerprint of its plan, or has that of another one
 * (docs/conventions/rules.md#plan). A write that leaves the rule about the same secrets needs none.
 */
export async function requireConfirmed(
  context: Context,
  rule: PreparedRule,
  { confirm, requestId }: { confirm: string | undefined; requestId: string },
): Promise<void> {
  if (isSameSelection(rule.selection, rule.existing)) return;
  const { counts } = await countChanges(context, rule, requestId);
  if (confirm === undefined ? !needsConfirmation(counts) : confirm === fingerprintOf(rule, counts)) return;
  const what = confirm === undefined ? 'is required' : 'is not the fingerprint of the current plan';
  throw new Problem('conflict', `confirm: ${what}: ${sentenceOf(counts)}; read the plan of the rule again`);
}

const sentenceOf = ({ toAssociate, toRelease, isComplete }: RuleCounts): string =>
  `the rule would associate ${isComplete ? '' : 'at least '}${toAssociate} secrets and release ${toRelease} associations`;
