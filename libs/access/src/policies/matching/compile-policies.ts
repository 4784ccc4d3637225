import type { SeenPath } from '../../paths/seen-path.ts';
import { type Grant, noGrant } from '../rules/grant.ts';
import { isTemplate, resolvedPath, type TemplateValues } from '../rules/path-templates.ts';
import { type PolicyPattern, parsePattern } from '../rules/policy-pattern.ts';
import type { PathRule, PolicyRules } from '../rules/policy-rules.ts';
import { indexRules, mergedIndex, type Rule, type RuleIndex, strongest } from './rule-index.ts';

/** A set of policies, compiled for fast evaluation. */
export interface CompiledPolicies {
  /** Number of distinct paths; memory use grows with it. */
  readonly paths: number;
  /** The largest number of comparisons that one decision can take. */
  readonly maxSteps: number;
  /** Whether some paths contain templates. They grant nothing before `withValues`. */
  readonly hasTemplates: boolean;
  /**
   * Returns the policies with the template values of one identity, without compiling them again. Paths with a missing value grant
   * nothing.
   */
  withValues(values: TemplateValues): CompiledPolicies;
  /**
   * Returns the grant on a path. A path may have an alternative name: the strongest pattern that matches either decides, and the
   * same pattern written with both names is one.
   */
  on(path: SeenPath): Grant;
  /**
   * Returns the grant for listing a folder, given by its path without a trailing slash. An exact path decides, the one
   * with the slash first; then the strongest pattern that matches with the slash; then the one that matches without it.
   */
  onFolder(path: SeenPath): Grant;
  /** One rule per pattern, the strongest first. */
  readonly rules: readonly Rule[];
}

/** Compiled policies that can be merged with others. */
export interface CompiledPart {
  index: RuleIndex;
  templates: readonly PathRule[];
}

/**
 * Compiles a set of policies. The matching pattern of the highest priority (`byPriority`) decides alone, with the
 * combined capabilities of all policies; `deny` overrides all others. Paths are relative to the namespace of the
 * policies, without leading and trailing slashes.
 */
export const compilePolicies = (policies: readonly PolicyRules[]): CompiledPolicies =>
  mergedPolicies([compilePart(policies)]);

export function compilePart(policies: readonly PolicyRules[]): CompiledPart {
  const rules = policies.flatMap(({ paths }) => paths);
  const templates = rules.filter(({ path }) => isTemplate(path));
  const plain = templates.length === 0 ? rules : rules.filter(({ path }) => !isTemplate(path));
  return { index: indexRules(plain), templates };
}

/** Merges separately compiled policies, at almost no cost. The result equals that of compiling them together. */
export const mergedPolicies = (parts: readonly CompiledPart[]): CompiledPolicies =>
  compiled(
    mergedIndex(parts.map(({ index }) => index)),
    parts.flatMap(({ templates }) => templates),
  );

function compiled(index: RuleIndex, templates: readonly PathRule[]): CompiledPolicies {
  return {
    paths: templates.length + index.size,
    maxSteps: 4 * index.maxSteps, // for a folder, with and without slash, whose path has an alternative name
    get rules() {
      return index.rules;
    },
    hasTemplates: templates.length > 0,
    withValues: (values) => compiled(mergedIndex([index, indexRules(resolvedRules(templates, values))]), []),
    on: (path) => ruleBy(index, path)?.grant ?? noGrant,
    onFolder: (path) => folderRule(index, path)?.grant ?? noGrant,
  };
}

const resolvedRules = (templates: readonly PathRule[], values: TemplateValues): PathRule[] =>
  templates.flatMap((rule) => {
    const path = resolvedPath(rule.path, values);
    return path === undefined ? [] : [{ ...rule, path }];
  });

function ruleBy(index: RuleIndex, { path, alternative, foldedFrom }: SeenPath): Rule | undefined {
  const rule = index.on(path, foldedFrom);
  const other = alternative === undefined ? undefined : index.on(alternative);
  if (alternative === undefined || other === undefined) return rule;
  return strongest(rule, { ...other, pattern: parsePattern(inOwnName(other.pattern, path, alternative)) });
}

/**
 * Returns the rule that decides about a folder, with and without a slash at its end. An exact pattern comes before one with a
 * wildcard, then the path with the slash before the one without, as in OpenBao 2.7. Random policies are compared with it in
 * tests/clients/policies.
 */
function folderRule(index: RuleIndex, { path, alternative, foldedFrom }: SeenPath): Rule | undefined {
  const other = alternative === undefined ? undefined : `${alternative}/`;
  const withSlash = ruleBy(index, { path: `${path}/`, alternative: other, foldedFrom });
  if (withSlash !== undefined && isExact(withSlash)) return withSlash;
  const without = ruleBy(index, { path, alternative, foldedFrom });
  return without !== undefined && isExact(without) ? without : (withSlash ?? without);
}

const isExact = ({ pattern }: Rule): boolean => pattern.firstWildcard === undefined;

/**
 * Returns a pattern that matches the alternative name of a path as if it were written with the path's own name, so that
 * its length compares with that of others. Both names differ in one segment.
 */
function inOwnName({ stem, isPrefix }: PolicyPattern, path: string, alternative: string): string {
  const [own, other] = [path.split('/'), alternative.split('/')];
  const segments = stem.split('/').map((part, at) => (part === other[at] ? own[at] : part));
  return `${segments.join('/')}${isPrefix ? '*' : ''}`;
}
