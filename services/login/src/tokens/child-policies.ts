import { type Caller, isRoot } from '@secrets/caller';
import { invalid, Problem, permissionDenied } from '@secrets/domain';
import { maySudo } from '../require-grant.ts';

/** What somebody who makes a token says of its policies. */
export interface PolicyRequest {
  policies: readonly string[] | undefined;
  withoutDefault: boolean;
}

/**
 * The policies of a token that the caller makes: those asked for, else the caller's own. Without `sudo`, only what
 * the caller has itself; `root` only from `root`. Policy names mean other policies in another namespace, so there
 * nothing is inherited and `sudo` is needed.
 */
export function childPolicies(caller: Caller, request: PolicyRequest): string[] {
  const elsewhere = caller.namespace.id !== caller.tokenNamespace.id;
  const requested = request.policies === undefined ? [] : normalised(request.policies);
  if (requested.includes('root') && !isRoot(caller)) throw permissionDenied();
  if (elsewhere && !maySudo(caller)) throw permissionDenied();
  if (requested.length === 0 && elsewhere)
    throw invalid('policies is required for a token in another namespace');
  const policies = requested.length === 0 ? normalised(caller.policies) : requested;
  const beyond = policies.filter((policy) => policy !== 'default' && !caller.policies.includes(policy));
  if (beyond.length > 0 && !maySudo(caller))
    throw new Problem('invalid', `policies must be among those of the token that asks: ${beyond.join(', ')}`);
  return withDefault(policies, request.withoutDefault);
}

/** Policies in one spelling, each once, with `default` unless it is unwanted; `root` stands alone. */
export function withDefault(policies: readonly string[], withoutDefault: boolean): string[] {
  const all = normalised(policies);
  if (all.includes('root')) return ['root'];
  if (withoutDefault) return all.filter((policy) => policy !== 'default');
  return normalised(['default', ...all]);
}

const normalised = (policies: readonly string[]): string[] =>
  [...new Set(policies.map((policy) => policy.toLowerCase()))].sort();
