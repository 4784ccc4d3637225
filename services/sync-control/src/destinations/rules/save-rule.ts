import { randomUUID } from 'node:crypto';
import type { Caller } from '@secrets/caller';
import type { Tx } from '@secrets/db';
import { literalBeginning, Problem, parsePattern } from '@secrets/domain';
import type { Context } from '../../context.ts';
import { countRules, insertRule, lockRule, updateRule } from '../../queries/rules/rules.ts';
import { requireNoPurge } from '../background/require-no-purge.ts';
import { requireLockedDestination } from '../require-destination.ts';
import { requireConfirmed } from './plan/require-confirmed.ts';
import { prepareRule, type RuleRef, type RuleWrite } from './prepare-rule.ts';
import { sealOwner } from './stored-owner.ts';

/** Rules of one destination, and of all. */
const maxRules = { ofDestination: 1_000, ofAll: 10_000 };

/**
 * Writes a rule (docs/conventions/rules.md#writing-a-rule), whose next run begins at once. Throws `not_found` if the destination
 * does not exist, or a rule to be patched; `invalid` if there is no such mount or its owner may do nothing there; `forbidden` if
 * the caller may not write it, or name another owner; `conflict` if the rule is being deleted, the destination is being purged,
 * there are too many rules, or what it changes needs the fingerprint of its plan (`requireConfirmed`).
 */
export async function saveRule(
  context: Context,
  caller: Caller,
  ref: RuleRef,
  write: RuleWrite & { confirm: string | undefined },
): Promise<void> {
  const { keyRing, db } = context;
  const prepared = await prepareRule(context, caller, ref, write);
  const { existing, selection, identity } = prepared;
  await requireConfirmed(context, prepared, { confirm: write.confirm, requestId: caller.requestId });
  const id = existing?.id ?? randomUUID();
  const owner = { identity, since: new Date().toISOString() };
  const sealedOwner = sealOwner(keyRing, { ...selection, id }, owner);
  const beginning = literalBeginning(parsePattern(selection.path));
  await db.transaction(async (tx) => {
    const destination = await requireLockedDestination(tx, caller, ref);
    requireNoPurge(destination);
    const locked = await lockRule(tx, destination.id, ref.rule);
    if (locked?.id !== existing?.id || locked?.version !== existing?.version) throw overtaken();
    const rule = { ...selection, id, beginning, sealedOwner };
    if (locked !== undefined) return updateRule(tx, rule);
    await requireRoom(tx, destination.id);
    await insertRule(tx, destination.id, ref.rule, rule);
  });
}

const overtaken = () =>
  new Problem('conflict', 'the rule was written by another request meanwhile; try again');

async function requireRoom(tx: Tx, destinationId: string): Promise<void> {
  const counted = await countRules(tx, destinationId, maxRules);
  if (counted.ofDestination >= maxRules.ofDestination)
    throw new Problem('conflict', `a destination has at most ${maxRules.ofDestination} rules`);
  if (counted.ofAll >= maxRules.ofAll)
    throw new Problem('conflict', `an installation has at most ${maxRules.ofAll} rules`);
}
