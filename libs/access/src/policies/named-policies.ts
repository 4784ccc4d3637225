import { defaultPolicy, rootPolicy } from './built-in-policies.ts';
import { type CompiledPolicies, compilePolicies } from './compile-policies.ts';
import type { PolicyRules } from './policy-rules.ts';

/** A row of `login.policies`, as far as it is evaluated. */
export interface NamedRules {
  name: string;
  rules: PolicyRules;
}

/**
 * Compiles the policies that a token names: `root` is everything and needs no row, `default` is the built-in one
 * until a row of that name exists, and a name without a policy grants nothing.
 */
export function compileNamed(names: readonly string[], rows: readonly NamedRules[]): CompiledPolicies {
  if (names.includes('root')) return rootPolicy;
  const written = rows.map(({ rules }) => rules);
  const needsDefault = names.includes('default') && !rows.some(({ name }) => name === 'default');
  return compilePolicies(needsDefault ? [...written, defaultPolicy] : written);
}
