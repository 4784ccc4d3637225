import type { Caller } from '@secrets/caller';
import type { Context } from '../../context.ts';
import { endRule, lockRule } from '../../queries/rules/rules.ts';
import { requireDestination } from '../require-destination.ts';
import type { RuleRef } from './prepare-rule.ts';

/**
 * Deletes a rule, if it exists (docs/conventions/rules.md#what-holds-an-association): a task ends its holds, and deletes the row
 * with the last one. With `keep`, its associations are held by hand from then on. Throws `not_found` if the destination does not
 * exist.
 */
export async function removeRule(
  context: Context,
  caller: Caller,
  ref: RuleRef,
  { keep }: { keep: boolean },
): Promise<void> {
  const { id } = await requireDestination(context, caller, ref);
  await context.db.transaction(async (tx) => {
    const rule = await lockRule(tx, id, ref.rule);
    if (rule !== undefined) await endRule(tx, rule.id, keep);
  });
}
