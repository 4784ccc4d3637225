import type { StoredIdentity } from '@secrets/access';
import type { Caller } from '@secrets/caller';
import { requireFound } from '@secrets/domain';
import { SealError } from '@secrets/seal';
import type { Context } from '../../../context.ts';
import { findRule, type RuleRow } from '../../../queries/rules/rules.ts';
import { requireDestination } from '../../require-destination.ts';
import { type PreparedRule, type RuleRef, requireNotEnding } from '../prepare-rule.ts';
import { openOwner } from '../stored-owner.ts';

/** A rule to be planned; without an owner that can be read, with the reason. */
export type RuleToPlan = Omit<PreparedRule, 'identity'> & { identity: StoredIdentity | { reason: string } };

/** Returns a stored rule to be planned. Throws `not_found` if there is none. */
export async function storedRule(context: Context, caller: Caller, ref: RuleRef): Promise<RuleToPlan> {
  const destination = await requireDestination(context, caller, ref);
  const existing = requireFound(await findRule(context.db, destination.id, ref.rule));
  requireNotEnding(existing);
  return { destination, name: ref.rule, existing, selection: existing, identity: ownerOf(context, existing) };
}

function ownerOf({ keyRing }: Context, rule: RuleRow): RuleToPlan['identity'] {
  try {
    return openOwner(keyRing, rule).identity;
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return { reason: 'the owner of the rule cannot be read; write the rule again' };
  }
}
