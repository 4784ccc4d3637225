import { type CompiledPolicies, compilePolicies } from '../matching/compile-policies.ts';
import type { PolicyRules } from '../rules/policy-rules.ts';
import { defaultPolicy, rootPolicy } from './built-in-policies.ts';

/** The columns of `login.policies` that evaluation needs. */
export interface NamedRules {
  name: string;
  rules: PolicyRules;
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
