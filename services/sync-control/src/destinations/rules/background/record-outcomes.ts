import type { Context } from '../../../context.ts';
import type { RuleCounts } from '../../../metrics/sync-metrics.ts';
import { deleteRefusals, upsertRefusals } from '../../../queries/rules/rule-refusals.ts';
import type { Match, MatchOutcome } from './associate-matches.ts';

/** The dependencies of matching. */
export interface MatchWork {
  context: Context;
  counts?: RuleCounts;
}

/** The pause before a refused secret is tried again for the first time, in seconds. */
const firstPauseSeconds = { refused: 60, postponed: 1 };

/** Records which matches are refused, and why. */
export async function recordOutcomes(
  { context: { db }, counts }: MatchWork,
  ruleId: string,
  matches: readonly Match[],
  outcomes: readonly MatchOutcome[],
): Promise<void> {
  for (const at of matches.keys()) counts?.matches.inc({ outcome: outcomes[at]!.kind });
  const refusals = matches.flatMap((match, at) => {
    const outcome = outcomes[at]!;
    if (outcome.kind === 'associated') return [];
    const { kind, reason } = outcome;
    return [{ ...match, reason, firstPauseSeconds: firstPauseSeconds[kind] }];
  });
  const associated = matches.filter((_, at) => outcomes[at]!.kind === 'associated');
  await upsertRefusals(db, ruleId, refusals);
  await deleteRefusals(
    db,
    ruleId,
    associated.map(({ secretId }) => secretId),
  );
}
