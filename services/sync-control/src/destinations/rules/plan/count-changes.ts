import { canonicalJson, matchesPaths, matchesRule } from '@secrets/domain';
import type { Context } from '../../../context.ts';
import { beforeFirst } from '../../../queries/associations/association-pages.ts';
import {
  countMatches,
  type HeldAssociation,
  listHeldAssociations,
} from '../../../queries/rules/rule-plans.ts';
import type { RuleRow, RuleSelection } from '../../../queries/rules/rules.ts';
import type { Match } from '../background/associate-matches.ts';
import type { PreparedRule } from '../prepare-rule.ts';

/** The numbers of what a rule changes, among the first secrets and holds. */
export interface RuleCounts {
  matched: number;
  /** Secrets that have no association yet. */
  toAssociate: number;
  /** Associations that the rule holds from now on as well. */
  toHold: number;
  /** Associations that end, because nothing else holds them. */
  toRelease: number;
  /** Whether every secret and every hold was looked at. */
  isComplete: boolean;
}

/** Secrets of the mount, and holds of the rule, that are looked at. */
const maxCounted = 10_000;

/** The matches that were counted, and the mount: null if it is gone. */
interface CountedMatches {
  mount: { path: string; accessor: string } | null;
  matches: Match[];
  /** The path after which others may follow; null if all were counted. */
  next: string | null;
}

export type Counted = CountedMatches & { counts: RuleCounts };

type Rule = Pick<PreparedRule, 'destination' | 'existing' | 'selection'>;

/** Counts what a rule changes. */
export async function countChanges(context: Context, rule: Rule, requestId: string): Promise<Counted> {
  const counted = await listMatches(context, rule.selection, requestId);
  const { mount, matches, next } = counted;
  const released = await releasedFirst(context, rule, requestId);
  const { unassociated, unheld } =
    mount === null || matches.length === 0
      ? { unassociated: 0, unheld: 0 }
      : await countMatches(
          context.db,
          { destinationId: rule.destination.id, accessor: mount.accessor, secrets: matches },
          rule.existing?.id,
        );
  const counts = {
    matched: matches.length,
    toAssociate: unassociated,
    toHold: unheld,
    toRelease: released.count,
    isComplete: next === null && released.isComplete,
  };
  return { ...counted, counts };
}

async function listMatches(
  { secrets }: Context,
  selection: RuleSelection,
  requestId: string,
): Promise<CountedMatches> {
  const range = { after: '', limit: maxCounted };
  const page = await secrets.matching(requestId, selection.mountId, selection, range);
  const matches = page.secrets.map(({ secret_id: secretId, path }) => ({ secretId, path }));
  return { mount: page.mount, matches, next: page.next };
}

/** Whether the rule is about the same secrets as the stored one. */
export const isSameSelection = (selection: RuleSelection, existing: RuleRow | undefined): boolean =>
  existing !== undefined && canonicalJson(aboutOf(selection)) === canonicalJson(aboutOf(existing));

const aboutOf = ({ mountId, path, exclude, metadataMatch, naming }: RuleSelection) => ({
  mountId,
  path,
  exclude: [...exclude],
  metadataMatch: { ...metadataMatch },
  naming: { ...naming },
});

async function releasedFirst(context: Context, rule: Rule, requestId: string) {
  const { existing, selection } = rule;
  if (existing === undefined || isSameSelection(selection, existing)) return { count: 0, isComplete: true };
  const range = { after: beforeFirst, limit: maxCounted };
  const { released, next } = await releasedPage(context, existing, selection, { range, requestId });
  return { count: released.length, isComplete: next === undefined };
}

/** Returns the associations that end when a stored rule becomes the planned one, among those that it holds in a range. */
export async function releasedPage(
  context: Context,
  existing: RuleRow,
  selection: RuleSelection,
  { range, requestId }: { range: { after: string; limit: number }; requestId: string },
): Promise<{ released: HeldAssociation[]; next: string | undefined }> {
  const held = await listHeldAssociations(context.db, existing.id, range);
  const last = held.filter(({ isLastHold }) => isLastHold);
  const keeps = await stillMatched(context, existing, selection, { held: last, requestId });
  return {
    released: last.filter((one) => !keeps.has(one.associationId)),
    next: held.length === range.limit ? held.at(-1)!.associationId : undefined,
  };
}

/** Secrets whose metadata is read with one request. */
const placesAtOnce = 500;

/** Metadata is only read if the planned rule asks for other values than the stored one. */
async function stillMatched(
  { secrets }: Context,
  existing: RuleRow,
  selection: RuleSelection,
  { held, requestId }: { held: readonly HeldAssociation[]; requestId: string },
): Promise<Set<string>> {
  const near = held.filter(
    ({ mountId, secretName }) => mountId === selection.mountId && matchesPaths(selection, secretName),
  );
  const isCertain = Object.entries(selection.metadataMatch).every(
    ([key, value]) => existing.metadataMatch[key] === value,
  );
  if (isCertain) return new Set(near.map(({ associationId }) => associationId));
  const kept = new Set<string>();
  for (let start = 0; start < near.length; start += placesAtOnce) {
    const part = near.slice(start, start + placesAtOnce);
    const places = await secrets.places(
      requestId,
      part.map(({ secretId }) => secretId),
    );
    const metadata = new Map(places.map((place) => [place.secret_id, place.custom_metadata]));
    for (const { associationId, secretId, secretName: path } of part)
      if (matchesRule(selection, { path, customMetadata: metadata.get(secretId) ?? null }))
        kept.add(associationId);
  }
  return kept;
}
