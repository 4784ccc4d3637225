import { isDeepStrictEqual } from 'node:util';
import { beginningsOf, matchesRule } from '@secrets/domain';
import { SealError } from '@secrets/seal';
import type { SecretPlace } from '../../../changes/secrets-client.ts';
import type { Context } from '../../../context.ts';
import { listHoldsOfSecret } from '../../../queries/rules/rule-holds.ts';
import { claimRefusals, deleteRefusals } from '../../../queries/rules/rule-refusals.ts';
import { listRulesById, listRulesOfPath, type RuleOfDestination } from '../../../queries/rules/rule-runs.ts';
import { matchAssociator, OwnerGone } from './associate-matches.ts';
import { type MatchWork, recordOutcomes } from './record-outcomes.ts';
import { releaseHolds } from './release-holds.ts';

/** More often, the metadata of a secret hardly change while it is compared with rules. */
const maxComparisons = 10;

/**
 * Compares the rules of a mount with a secret that is new there or has other metadata: those that match it associate it, and
 * those that no longer do let it go. What cannot be associated now is tried again by the task. If the metadata have changed
 * meanwhile, whoever has followed that change may not have seen what was done here, so they are compared again.
 */
export async function matchChanged(work: MatchWork, secretId: string, requestId: string): Promise<void> {
  let compared: SecretPlace | undefined;
  for (let times = 0; times < maxComparisons; times += 1) {
    const [place] = await work.context.secrets.places(requestId, [secretId]);
    if (place === undefined || isDeepStrictEqual(place, compared)) return;
    await compare(work, place, requestId);
    compared = place;
  }
  throw new Error('the metadata of a secret change faster than rules are compared with it');
}

/** Compares secrets again whose metadata have changed since a run of a rule found that it matches them, or does not. */
export async function matchOvertaken(
  work: MatchWork,
  rule: RuleOfDestination,
  { secretIds, isMatch }: { secretIds: readonly string[]; isMatch: boolean },
  requestId: string,
): Promise<void> {
  const places = await work.context.secrets.places(requestId, secretIds);
  for (const place of places)
    if (isAbout(rule, place) !== isMatch) await matchChanged(work, place.secret_id, requestId);
}

async function compare(work: MatchWork, place: SecretPlace, requestId: string): Promise<void> {
  const { context } = work;
  const { db } = context;
  const [near, holds] = await Promise.all([
    listRulesOfPath(db, place.mount_id, beginningsOf(place.path)),
    listHoldsOfSecret(db, place.secret_id),
  ]);
  const holding = new Set(holds.map(({ ruleId }) => ruleId));
  for (const rule of near)
    if (!holding.has(rule.id) && isAbout(rule, place)) await associatePlace(work, rule, place, requestId);
  await releaseOthers(context, place, holds);
}

const isAbout = (
  rule: RuleOfDestination,
  { mount_id: mountId, path, custom_metadata }: SecretPlace,
): boolean => rule.mountId === mountId && matchesRule(rule, { path, customMetadata: custom_metadata });

async function associatePlace(
  work: MatchWork,
  rule: RuleOfDestination,
  { secret_id: secretId, path }: SecretPlace,
  requestId: string,
): Promise<void> {
  const match = { secretId, path };
  try {
    const associate = await matchAssociator(work.context, rule, requestId);
    await recordOutcomes(work, rule.id, [match], await associate([match]));
  } catch (error) {
    // The next run shows it with the rule.
    if (!(error instanceof OwnerGone || error instanceof SealError)) throw error;
    await recordOutcomes(work, rule.id, [match], [{ kind: 'refused', reason: reasonOf(error) }]);
  }
}

const reasonOf = (error: Error): string =>
  error instanceof OwnerGone ? error.message : 'the owner of the rule cannot be read; write the rule again';

async function releaseOthers(
  { db }: Context,
  place: SecretPlace,
  holds: readonly { ruleId: string; associationId: string }[],
): Promise<void> {
  if (holds.length === 0) return;
  const rules = await listRulesById(db, [...new Set(holds.map(({ ruleId }) => ruleId))]);
  for (const rule of rules) {
    if (isAbout(rule, place)) continue;
    const ids = holds.filter(({ ruleId }) => ruleId === rule.id).map(({ associationId }) => associationId);
    await releaseHolds(db, rule, ids);
  }
}

const refusalsAtOnce = 20;

/** Tries refused secrets that are due again. A secret that is gone, or that the rule no longer matches, is refused no more. */
export async function retryRefusals(work: MatchWork, requestId: string): Promise<void> {
  const { db, secrets } = work.context;
  const due = await claimRefusals(db, refusalsAtOnce);
  if (due.length === 0) return;
  const places = await secrets.places(requestId, [...new Set(due.map(({ secretId }) => secretId))]);
  const rules = await listRulesById(db, [...new Set(due.map(({ ruleId }) => ruleId))]);
  for (const { ruleId, secretId } of due) {
    const place = places.find((one) => one.secret_id === secretId);
    const rule = rules.find(({ id }) => id === ruleId);
    if (place === undefined || rule === undefined || !isAbout(rule, place))
      await deleteRefusals(db, ruleId, [secretId]);
    else {
      await associatePlace(work, rule, place, requestId);
      await matchOvertaken(work, rule, { secretIds: [secretId], isMatch: true }, requestId);
    }
  }
}
