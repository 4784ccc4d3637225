import { foldedFrom, nameIndexesOf } from '../../paths/folded-names.ts';
import { type Grant, grantOf, mergedGrants } from '../rules/grant.ts';
import { sizeOfRules } from '../rules/parameter-rules.ts';
import { byPriority, type PolicyPattern, parsePattern } from '../rules/policy-pattern.ts';
import type { PathRule } from '../rules/policy-rules.ts';
import { plusIndex } from './plus-index.ts';
import { prefixIndex } from './prefix-index.ts';

/** All rules with the same pattern. */
export interface Rule {
  pattern: PolicyPattern;
  grant: Grant;
}

/** Rules, indexed for finding the strongest one that matches a path. */
export interface RuleIndex {
  /** Number of distinct patterns. */
  readonly size: number;
  /** The largest number of comparisons that one search can take. */
  readonly maxSteps: number;
  /** The strongest pattern first. */
  readonly rules: readonly Rule[];
  /** @param foldedFrom index of the segment from which on the path is in lower case, and patterns are compared in lower case */
  readonly on: (path: string, foldedFrom?: number) => Rule | undefined;
}

/**
 * Indexes rules by what is written in them, so that a search compares few of them: exact paths, prefixes, and patterns
 * with `+` separately.
 */
export function indexRules(pathRules: readonly PathRule[]): RuleIndex {
  const index = indexAsWritten(pathRules);
  const folded = foldedIndexes(pathRules);
  if (folded.size === 0) return index;
  const indexes = [...folded.values()];
  const others = (at: number | undefined) => (at === undefined ? undefined : folded.get(at));
  return {
    size: indexes.reduce((sum, { size }) => sum + size, index.size),
    maxSteps: index.maxSteps + Math.max(...indexes.map(({ maxSteps }) => maxSteps)),
    rules: index.rules,
    on: (path, at) => strongest(index.on(path), others(at)?.on(path)),
  };
}

function indexAsWritten(pathRules: readonly PathRule[]): RuleIndex {
  const rules = ordered(
    pathRules.map((rule) => ({ pattern: parsePattern(rule.path), grant: grantOf(rule) })),
  );
  const exact = new Map(
    rules
      .filter(({ pattern }) => pattern.firstWildcard === undefined)
      .map((rule) => [rule.pattern.text, rule]),
  );
  const prefixes = prefixIndex(
    rules
      .filter(({ pattern }) => pattern.isPrefix && pattern.plusSegments === 0)
      .map((rule) => [rule.pattern.stem, rule]),
  );
  const segmented = plusIndex(rules.filter(({ pattern }) => pattern.plusSegments > 0));
  return {
    size: rules.length,
    maxSteps: 1 + prefixes.maxSteps + segmented.maxSteps + largestRestrictions(rules),
    rules,
    on: (path) => exact.get(path) ?? strongest(prefixes.find(path), segmented.find(path)),
  };
}

/** The largest number of values that merging one of the rules with another one takes. */
const largestRestrictions = (rules: readonly Rule[]): number =>
  rules.reduce((most, { grant: { conditions, eventTypes = [] } }) => {
    const restrictions = conditions?.parameters;
    const size = restrictions === undefined ? 0 : sizeOfRules(restrictions);
    return Math.max(most, size + eventTypes.length);
  }, 0);

/** The patterns with a name in other letters than lower case, with these in lower case, by the index at which the name begins. */
function foldedIndexes(pathRules: readonly PathRule[]): ReadonlyMap<number, RuleIndex> {
  const rules = new Map<number, PathRule[]>();
  for (const rule of pathRules.filter(({ path }) => mayChange.test(path))) {
    const { text } = parsePattern(rule.path);
    for (const at of nameIndexesOf(text)) {
      const path = foldedFrom(text, at);
      if (path === text) continue;
      const known = rules.get(at);
      if (known === undefined) rules.set(at, [{ ...rule, path }]);
      else known.push({ ...rule, path });
    }
  }
  return new Map([...rules].map(([at, folded]) => [at, indexAsWritten(folded)]));
}

const mayChange = /[A-Z\u0080-\uffff]/;

/** Merges indexes. `rules` is computed when it is read. */
export function mergedIndex(indexes: readonly RuleIndex[]): RuleIndex {
  const [first] = indexes;
  if (indexes.length === 1) return first!;
  return {
    size: indexes.reduce((sum, { size }) => sum + size, 0),
    maxSteps: indexes.reduce((sum, { maxSteps }) => sum + maxSteps, 0),
    get rules() {
      return ordered(indexes.flatMap(({ rules }) => rules));
    },
    on: (path, at) =>
      indexes.reduce<Rule | undefined>((found, { on }) => strongest(found, on(path, at)), undefined),
  };
}

/** The stronger of two rules; both together if they have the same pattern. */
export function strongest(a: Rule | undefined, b: Rule | undefined): Rule | undefined {
  if (a === undefined || b === undefined || a === b) return a ?? b;
  if (a.pattern.text === b.pattern.text) return merged(a, b.grant);
  return byPriority(a.pattern, b.pattern) < 0 ? a : b;
}

const merged = ({ pattern, grant }: Rule, other: Grant): Rule => ({
  pattern,
  grant: mergedGrants(grant, other),
});

/** One rule per pattern, strongest pattern first. */
function ordered(rules: readonly Rule[]): Rule[] {
  const byPattern = new Map<string, Rule>();
  for (const rule of rules) {
    const known = byPattern.get(rule.pattern.text);
    byPattern.set(rule.pattern.text, known === undefined ? rule : merged(known, rule.grant));
  }
  return [...byPattern.values()].sort((a, b) => byPriority(a.pattern, b.pattern));
}
