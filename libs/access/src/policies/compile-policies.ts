import type { Capability } from '@secrets/caller';
import { type Grant, noGrant } from './grant.ts';
import { isTemplate, resolvedPath, type TemplateValues } from './path-templates.ts';
import { type PolicyPattern, parsePattern } from './policy-pattern.ts';
import type { PathRule, PolicyRules } from './policy-rules.ts';
import { indexRules, joined, type Rule, type RuleIndex, strongest } from './rule-index.ts';

/** A set of policies, compiled for fast evaluation. */
export interface CompiledPolicies {
  /** Number of distinct paths; memory use grows with it. */
  readonly paths: number;
  /** Whether some paths contain templates. They grant nothing before `withValues`. */
  readonly hasTemplates: boolean;
  /** The same policies for one identity. Shares what was compiled. Paths of which a value is missing grant nothing. */
  withValues(values: TemplateValues): CompiledPolicies;
  /**
   * What they grant on a path. A path may have an alternative name: the strongest pattern that matches either decides, and the same
   * pattern written with both names is one.
   */
  on(path: string, alternative?: string): Grant;
  /**
   * What they grant for listing a folder. Patterns may match the path with or without a trailing slash, so that
   * `kv/metadata/team/*`, `kv/metadata/team/` and `kv/metadata/team` all apply to that folder.
   */
  onFolder(path: string, alternative?: string): Grant;
  /** One rule per pattern, the strongest first. */
  readonly rules: readonly Rule[];
}

/** Some policies, compiled, to be used together with others. */
export interface CompiledPart {
  index: RuleIndex;
  templates: readonly PathRule[];
}

/** Compiles a set of policies. See `capabilitiesOn` for the rules. */
export const compilePolicies = (policies: readonly PolicyRules[]): CompiledPolicies =>
  joinedPolicies([compilePart(policies)]);

export function compilePart(policies: readonly PolicyRules[]): CompiledPart {
  const rules = policies.flatMap(({ paths }) => paths);
  const templates = rules.filter(({ path }) => isTemplate(path));
  const plain = templates.length === 0 ? rules : rules.filter(({ path }) => !isTemplate(path));
  return { index: indexRules(plain), templates };
}

/** Joins what was compiled separately, which takes next to no time. The result is that of compiling all policies together. */
export const joinedPolicies = (parts: readonly CompiledPart[]): CompiledPolicies =>
  compiled(
    joined(parts.map(({ index }) => index)),
    parts.flatMap(({ templates }) => templates),
  );

function compiled(index: RuleIndex, templates: readonly PathRule[]): CompiledPolicies {
  return {
    paths: templates.length + index.size,
    get rules() {
      return index.rules;
    },
    hasTemplates: templates.length > 0,
    withValues: (values) => compiled(joined([index, indexRules(resolvedRules(templates, values))]), []),
    on: (path, alternative) => grantBy(index.on, path, alternative),
    onFolder: (path, alternative) => grantBy(index.onFolder, path, alternative),
  };
}

const resolvedRules = (templates: readonly PathRule[], values: TemplateValues): PathRule[] =>
  templates.flatMap((rule) => {
    const path = resolvedPath(rule.path, values);
    return path === undefined ? [] : [{ ...rule, path }];
  });

function grantBy(
  ruleOn: (path: string) => Rule | undefined,
  path: string,
  alternative: string | undefined,
): Grant {
  const rule = ruleOn(path);
  const other = alternative === undefined ? undefined : ruleOn(alternative);
  if (alternative === undefined || other === undefined) return rule?.grant ?? noGrant;
  const renamed = { ...other, pattern: parsePattern(inOwnName(other.pattern, path, alternative)) };
  return strongest(rule, renamed)?.grant ?? noGrant;
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

/**
 * Returns what a set of policies grants on a path, relative to the namespace of the policies, without leading and
 * trailing slashes. The matching pattern of the highest priority (`byPriority`) decides alone, with the combined
 * capabilities of all policies; `deny` overrides all others. For repeated evaluation use `compilePolicies`.
 */
export const capabilitiesOn = (
  policies: readonly PolicyRules[],
  path: string,
  alternative?: string,
): Capability[] => [...compilePolicies(policies).on(path, alternative).capabilities];
