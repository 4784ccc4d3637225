import { Problem } from '@secrets/domain';
import { contentRow } from '../../rows/content-row.ts';
import type { RowGuard } from '../../rows/row-guard.ts';
import { type CompiledPolicies, compilePolicies } from '../matching/compile-policies.ts';
import type { PolicyRules } from '../rules/policy-rules.ts';
import { defaultPolicy, rootPolicy } from './built-in-policies.ts';

/** The columns of `login.policies` that evaluation needs. */
export interface NamedRules {
  name: string;
  rules: PolicyRules;
}

/**
 * Parses the policies of one namespace that were read together.
 * @throws a problem (`forbidden`) if one of them is not as login has written it: what it lacks may be a rule that denies
 */
export function parseRules(rows: RowGuard, namespaceId: string, text: string): NamedRules[] {
  const policies = JSON.parse(text) as (NamedRules & { hash: string | null })[];
  const rejected = policies.filter(
    ({ name, rules, hash }) => !rows.accepts(contentRow('login.policies', [namespaceId, name], rules), hash),
  );
  if (rejected.length > 0)
    throw new Problem('forbidden', 'a policy of this token or its identity was not written by this service');
  return policies;
}

/**
 * Compiles the policies of a token by name: `root` grants everything and has no row, `default` is the built-in policy
 * unless a row overrides it, and a name without a policy grants nothing.
 */
export function compileNamed(names: readonly string[], rows: readonly NamedRules[]): CompiledPolicies {
  if (names.includes('root')) return rootPolicy;
  const written = rows.map(({ rules }) => rules);
  const needsDefault = names.includes('default') && !rows.some(({ name }) => name === 'default');
  return compilePolicies(needsDefault ? [...written, defaultPolicy] : written);
}
