import { type Capability, capabilities } from '@secrets/caller';
import { byPriority, type PolicyPattern, parsePattern, patternExpression } from './policy-pattern.ts';
import type { PolicyRules } from './policy-rules.ts';

/** A set of policies, ready to be asked often. */
export interface CompiledPolicies {
  /** How many paths they speak of: what they take of memory grows with it. */
  readonly paths: number;
  /** What they grant on a path; empty when nothing or denied. In the order of `capabilities`. */
  on(path: string): readonly Capability[];
  /**
   * What they grant on a folder that is to be listed: patterns may match the path as given or with a slash at its
   * end, so that `kv/metadata/team/*`, `kv/metadata/team/` and `kv/metadata/team` all speak of listing that folder.
   */
  onFolder(path: string): readonly Capability[];
}

interface Rule {
  pattern: PolicyPattern;
  granted: readonly Capability[];
}

const nothing: readonly Capability[] = [];

/**
 * Compiles a set of policies: exact paths in a map, prefixes in a map asked from the longest length to the shortest,
 * and patterns with `+` as expressions in the order of their priority. Rules as in `capabilitiesOn`.
 */
export function compilePolicies(policies: readonly PolicyRules[]): CompiledPolicies {
  const rules = mergedRules(policies);
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
    .map((rule) => ({ ...rule, expression: patternExpression(rule.pattern) }));

  const inexact = (path: string, alsoAs: string): readonly Capability[] => {
    const prefix = longestPrefix(alsoAs);
    const plus = segmented.find(({ expression }) => expression.test(path) || expression.test(alsoAs));
    return stronger(prefix, plus)?.granted ?? nothing;
  };
  return {
    paths: rules.length,
    on: (path) => exact.get(path)?.granted ?? inexact(path, path),
    onFolder: (path) => {
      const folder = `${path}/`;
      return (exact.get(folder) ?? exact.get(path))?.granted ?? inexact(path, folder);
    },
  };
}

/** One rule a pattern, the capabilities of all policies together, strongest first. */
function mergedRules(policies: readonly PolicyRules[]): Rule[] {
  const together = new Map<string, Set<Capability>>();
  for (const rule of policies.flatMap(({ paths }) => paths)) {
    const { text } = parsePattern(rule.path);
    together.set(text, new Set([...(together.get(text) ?? []), ...rule.capabilities]));
  }
  return [...together]
    .map(([text, granted]) => ({ pattern: parsePattern(text), granted: inOrder(granted) }))
    .sort((a, b) => byPriority(a.pattern, b.pattern));
}

const inOrder = (granted: ReadonlySet<Capability>): readonly Capability[] =>
  granted.has('deny') ? nothing : capabilities.filter((capability) => granted.has(capability));

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

function stronger(a: Rule | undefined, b: Rule | undefined): Rule | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return byPriority(a.pattern, b.pattern) < 0 ? a : b;
}

/**
 * What a set of policies grants on a path (relative to the namespace of the policies, without slashes at the ends):
 * the pattern of the highest priority decides alone, with the capabilities that all policies give it together; none
 * when one of them says `deny`. `byPriority` holds the order. For one-off questions; `compilePolicies` for many.
 */
export const capabilitiesOn = (policies: readonly PolicyRules[], path: string): Capability[] => [
  ...compilePolicies(policies).on(path),
];
