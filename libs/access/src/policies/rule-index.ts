import { type Grant, grantOf, mergedGrants } from './grant.ts';
import { byPriority, type PolicyPattern, parsePattern, patternExpression } from './policy-pattern.ts';
import type { PathRule } from './policy-rules.ts';

/** All rules with the same pattern. */
export interface Rule {
  pattern: PolicyPattern;
  grant: Grant;
}

/** Rules, indexed for finding the strongest one that matches a path. */
export interface RuleIndex {
  /** Number of distinct patterns. */
  readonly size: number;
  /** The strongest pattern first. */
  readonly rules: readonly Rule[];
  readonly on: (path: string) => Rule | undefined;
  /** The same for a folder: patterns may match the path with or without a trailing slash. */
  readonly onFolder: (path: string) => Rule | undefined;
}

/**
 * Indexes rules: exact paths in a map, prefixes in a map searched from the longest length to the shortest, and patterns with `+` as
 * expressions in order of priority.
 */
export function indexRules(pathRules: readonly PathRule[]): RuleIndex {
  const rules = ordered(
    pathRules.map((rule) => ({ pattern: parsePattern(rule.path), grant: grantOf(rule) })),
  );
  const exact = new Map(
    rules
      .filter(({ pattern }) => pattern.firstWildcard === undefined)
      .map((rule) => [rule.pattern.text, rule]),
  );
  const longestPrefix = prefixIndex(
    rules.filter(({ pattern }) => pattern.isPrefix && pattern.plusSegments === 0),
  );
  const segmented = rules
    .filter(({ pattern }) => pattern.plusSegments > 0)
    .map((rule) => ({ rule, expression: patternExpression(rule.pattern) }));

  const byWildcard = (path: string, folder: string): Rule | undefined => {
    const plus = segmented.find(({ expression }) => expression.test(path) || expression.test(folder));
    return strongest(longestPrefix(folder), plus?.rule);
  };
  return {
    size: rules.length,
    rules,
    on: (path) => exact.get(path) ?? byWildcard(path, path),
    onFolder: (path) => {
      const folder = `${path}/`;
      return exact.get(folder) ?? exact.get(path) ?? byWildcard(path, folder);
    },
  };
}

/** Joins indexes. What the rules are together is found out only when it is needed. */
export function joined(indexes: readonly RuleIndex[]): RuleIndex {
  const [first] = indexes;
  if (indexes.length === 1) return first!;
  return {
    size: indexes.reduce((sum, { size }) => sum + size, 0),
    get rules() {
      return ordered(indexes.flatMap(({ rules }) => rules));
    },
    on: (path) => indexes.reduce<Rule | undefined>((found, { on }) => strongest(found, on(path)), undefined),
    onFolder: (path) =>
      indexes.reduce<Rule | undefined>((found, { onFolder }) => strongest(found, onFolder(path)), undefined),
  };
}

/** The stronger of two rules; both together if they have the same pattern. */
export function strongest(a: Rule | undefined, b: Rule | undefined): Rule | undefined {
  if (a === undefined || b === undefined) return a ?? b;
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

function prefixIndex(rules: readonly Rule[]): (path: string) => Rule | undefined {
  const byStem = new Map(rules.map((rule) => [rule.pattern.stem, rule]));
  const lengths = [...new Set(rules.map(({ pattern }) => pattern.stem.length))].sort((a, b) => b - a);
  return (path) => {
    for (const length of lengths) {
      const rule = length <= path.length ? byStem.get(path.slice(0, length)) : undefined;
      if (rule !== undefined) return rule;
    }
    return undefined;
  };
}
