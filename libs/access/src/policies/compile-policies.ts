import { type Capability, capabilities } from '@secrets/caller';
import { byPriority, type PolicyPattern, parsePattern, patternExpression } from './policy-pattern.ts';
import type { PolicyRules } from './policy-rules.ts';

/** A set of policies, compiled for fast evaluation. */
export interface CompiledPolicies {
  /** Number of distinct paths; memory use grows with it. */
  readonly paths: number;
  /**
   * What they grant on a path, in the order of `capabilities`; empty if nothing is granted or `deny` applies. A path may have an
   * alternative name: the strongest pattern that matches either decides, and the same pattern written with both names is one.
   */
  on(path: string, alternative?: string): readonly Capability[];
  /**
   * What they grant for listing a folder. Patterns may match the path with or without a trailing slash, so that
   * `kv/metadata/team/*`, `kv/metadata/team/` and `kv/metadata/team` all apply to that folder.
   */
  onFolder(path: string, alternative?: string): readonly Capability[];
  /** One rule per pattern with the combined capabilities of all policies, the strongest first. */
  readonly rules: readonly Rule[];
}

/** What a pattern grants where no stronger one matches. */
interface Rule {
  pattern: PolicyPattern;
  /** Empty if denied. */
  granted: readonly Capability[];
  denied: boolean;
}

const nothing: readonly Capability[] = [];

/**
 * Compiles a set of policies: exact paths into a map, prefixes into a map searched from the longest length to the
 * shortest, and patterns with `+` into expressions in order of priority. See `capabilitiesOn` for the rules.
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

  const byWildcard = (path: string, folder: string): Rule | undefined => {
    const prefix = longestPrefix(folder);
    const plus = segmented.find(({ expression }) => expression.test(path) || expression.test(folder));
    return stronger(prefix, plus);
  };
  const ruleOn = (path: string) => exact.get(path) ?? byWildcard(path, path);
  const ruleOnFolder = (path: string) => {
    const folder = `${path}/`;
    return exact.get(folder) ?? exact.get(path) ?? byWildcard(path, folder);
  };
  return {
    paths: rules.length,
    rules,
    on: (path, alternative) => grantedBy(ruleOn, path, alternative),
    onFolder: (path, alternative) => grantedBy(ruleOnFolder, path, alternative),
  };
}

function grantedBy(
  ruleOn: (path: string) => Rule | undefined,
  path: string,
  alternative: string | undefined,
): readonly Capability[] {
  const rule = ruleOn(path);
  const other = alternative === undefined ? undefined : ruleOn(alternative);
  if (alternative === undefined || other === undefined) return rule?.granted ?? nothing;
  const renamed = { ...other, pattern: parsePattern(inOwnName(other.pattern, path, alternative)) };
  if (rule?.pattern.text !== renamed.pattern.text) return stronger(rule, renamed)?.granted ?? nothing;
  return rule.denied || other.denied ? nothing : inOrder(new Set([...rule.granted, ...other.granted]));
}

/**
 * Returns a pattern that matches the alternative name of a path as if it were written with the path's own name, so that its length compares
 * with that of others. Both names differ in one segment.
 */
function inOwnName({ stem, isPrefix }: PolicyPattern, path: string, alternative: string): string {
  const [own, other] = [path.split('/'), alternative.split('/')];
  const segments = stem.split('/').map((part, at) => (part === other[at] ? own[at] : part));
  return `${segments.join('/')}${isPrefix ? '*' : ''}`;
}

/** One rule per pattern with the combined capabilities of all policies, strongest pattern first. */
function mergedRules(policies: readonly PolicyRules[]): Rule[] {
  const merged = new Map<string, Set<Capability>>();
  for (const rule of policies.flatMap(({ paths }) => paths)) {
    const { text } = parsePattern(rule.path);
    merged.set(text, new Set([...(merged.get(text) ?? []), ...rule.capabilities]));
  }
  return [...merged]
    .map(([text, granted]) => ({
      pattern: parsePattern(text),
      granted: inOrder(granted),
      denied: granted.has('deny'),
    }))
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
 * Returns what a set of policies grants on a path, relative to the namespace of the policies, without leading and
 * trailing slashes. The matching pattern of the highest priority (`byPriority`) decides alone, with the combined
 * capabilities of all policies; `deny` overrides all others. For repeated evaluation use `compilePolicies`.
 */
export const capabilitiesOn = (
  policies: readonly PolicyRules[],
  path: string,
  alternative?: string,
): Capability[] => [...compilePolicies(policies).on(path, alternative)];
