import type { Caller } from '@secrets/caller';
import type { Context } from '../../../context.ts';
import { beforeFirst } from '../../../queries/associations/association-pages.ts';
import type { HeldAssociation } from '../../../queries/rules/rule-plans.ts';
import { requireNoPurge } from '../../background/require-no-purge.ts';
import type { Match } from '../background/associate-matches.ts';
import { countChanges, type RuleCounts, releasedPage } from './count-changes.ts';
import { fingerprintOf, needsConfirmation } from './fingerprint.ts';
import { type PlannedMatch, planMatches } from './plan-matches.ts';
import type { RuleToPlan } from './rule-to-plan.ts';

/** A page of secrets, and what the rule would do with them. */
export interface RulePlan {
  /** On the first page only. */
  totals?: RuleCounts & { needsConfirm: boolean; fingerprint: string };
  matches: PlannedMatch[];
  /** The path after which the next page begins; undefined after the last one. */
  next: string | undefined;
  /** Why the rule does nothing. */
  error: string | null;
}

export interface PlanRange {
  /** The path after which the page begins; empty for the first one. */
  after: string;
  limit: number;
  /** Whether a worker looks at what is in the store now. */
  look: boolean;
}

/** Returns what a rule would do, without writing anything (docs/conventions/rules.md#plan). */
export async function planRule(
  context: Context,
  caller: Caller,
  rule: RuleToPlan,
  range: PlanRange,
): Promise<RulePlan> {
  requireNoPurge(rule.destination);
  const { totals, mount, matches, next } =
    range.after === ''
      ? await firstPage(context, caller, rule, range)
      : await laterPage(context, caller, rule, range);
  if (mount === null) return { ...totals, matches: [], next: undefined, error: 'the mount no longer exists' };
  const planned = await planMatches(context, caller, rule, { mount, matches, look: range.look });
  const shown = planned.slice(0, fitting(planned));
  const last = shown.length < planned.length ? shown.at(-1)!.secretName : next;
  return { ...totals, matches: shown, next: last, error: null };
}

/** External secrets of a page; the first secret may have more of them. */
const maxExternal = 1_000;

/** The number of secrets that a page has room for. */
function fitting(planned: readonly PlannedMatch[]): number {
  let room = maxExternal;
  const end = planned.findIndex(({ secrets }, at) => {
    room -= secrets.length;
    return room < 0 && at > 0;
  });
  return end < 0 ? planned.length : end;
}

interface MatchPage {
  totals?: Pick<RulePlan, 'totals'>;
  mount: { path: string; accessor: string } | null;
  matches: Match[];
  next: string | undefined;
}

async function firstPage(
  context: Context,
  { requestId }: Caller,
  rule: RuleToPlan,
  { limit }: PlanRange,
): Promise<MatchPage> {
  const { counts, mount, matches, next } = await countChanges(context, rule, requestId);
  const totals = {
    ...counts,
    needsConfirm: needsConfirmation(counts),
    fingerprint: fingerprintOf(rule, counts),
  };
  return { totals: { totals }, mount, ...cut(matches, limit, next) };
}

/** Pages of secrets that are looked at for one of the plan, which may be empty. */
const maxPages = 10;

async function laterPage(
  { secrets }: Context,
  { requestId }: Caller,
  { selection }: RuleToPlan,
  { after, limit }: PlanRange,
): Promise<MatchPage> {
  let position: string | null = after;
  for (let pages = 1; ; pages += 1) {
    const page = await secrets.matching(requestId, selection.mountId, selection, { after: position });
    const matches = page.secrets.map(({ secret_id: secretId, path }) => ({ secretId, path }));
    if (matches.length > 0 || page.next === null || pages === maxPages)
      return { mount: page.mount, ...cut(matches, limit, page.next) };
    position = page.next;
  }
}

/** The first matches of a page, and where the next one begins. */
const cut = (matches: readonly Match[], limit: number, next: string | null) => ({
  matches: matches.slice(0, limit),
  next: matches.length > limit ? matches[limit - 1]!.path : (next ?? undefined),
});

/** Returns a page of the associations that end when a rule is written. Throws as `planRule`. */
export async function planReleases(
  context: Context,
  { requestId }: Caller,
  { destination, existing, selection }: RuleToPlan,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<{ released: HeldAssociation[]; next: string | undefined }> {
  requireNoPurge(destination);
  if (existing === undefined) return { released: [], next: undefined };
  const range = { after: after ?? beforeFirst, limit };
  return releasedPage(context, existing, selection, { range, requestId });
}
