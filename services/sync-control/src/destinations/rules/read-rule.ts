import type { Caller } from '@secrets/caller';
import { requireFound } from '@secrets/domain';
import { SealError } from '@secrets/seal';
import type { Context } from '../../context.ts';
import { countHolds } from '../../queries/rules/rule-holds.ts';
import { countRefusals, listRefusals } from '../../queries/rules/rule-refusals.ts';
import { findRule, type RuleRow } from '../../queries/rules/rules.ts';
import { requireDestination } from '../require-destination.ts';
import type { RuleRef } from './prepare-rule.ts';
import { openOwner } from './stored-owner.ts';

/** Refusals that a rule shows. */
const maxShown = 20;

/** Associations and refusals are counted up to this number. */
const maxCounted = 10_000;

/** Returns a rule with its progress (docs/conventions/rules.md#progress). Throws `not_found` if there is none. */
export async function readRule(context: Context, caller: Caller, ref: RuleRef) {
  const { db } = context;
  const { id } = await requireDestination(context, caller, ref);
  const rule = requireFound(await findRule(db, id, ref.rule));
  const refusals = await listRefusals(db, rule.id, maxShown);
  return {
    mount: rule.mount,
    path: rule.path,
    exclude: rule.exclude,
    metadata_match: rule.metadataMatch,
    secret_name_template: rule.naming.secret_name_template ?? null,
    granularity: rule.naming.granularity ?? null,
    value_key: rule.naming.value_key ?? null,
    owner: presentOwner(context, rule),
    state: states[rule.phase],
    matched: rule.phase === 'matching' || rule.phase === 'releasing' ? rule.matchedSoFar : rule.matched,
    associated: await countHolds(db, rule.id, maxCounted),
    refused: refusals.length < maxShown ? refusals.length : await countRefusals(db, rule.id, maxCounted),
    refusals: refusals.map(({ path, reason, refusedAt }) => ({
      secret_name: path,
      reason,
      refused_at: refusedAt.toISOString(),
    })),
    error: rule.error,
    last_run_at: rule.lastRunAt?.toISOString() ?? null,
    created_at: rule.createdAt.toISOString(),
    updated_at: rule.updatedAt.toISOString(),
  };
}

const states = {
  matching: 'running',
  releasing: 'running',
  resting: 'up_to_date',
  ending: 'deleting',
} as const;

/** An owner that cannot be read is shown as unknown: the rule can still be written again, or deleted. */
function presentOwner({ keyRing }: Context, rule: RuleRow) {
  try {
    const { identity, since } = openOwner(keyRing, rule);
    const { entityId, displayName } = identity;
    const type = entityId === null ? 'token' : 'entity';
    return { type, entity_id: entityId, display_name: displayName, since };
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return { type: 'unknown', entity_id: null, display_name: '', since: null };
  }
}
