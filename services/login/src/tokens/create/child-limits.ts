import { areRangesWithin } from '@secrets/access';
import { type Caller, isRoot, maySudo } from '@secrets/caller';
import { invalid, Problem } from '@secrets/domain';
import { normalisedPolicies, withDefaultPolicy } from '../token-fields.ts';

/** The part of a request for a token that determines its policies. */
export interface PolicyRequest {
  /** Undefined to inherit; an empty list is no policy besides `default`. */
  policies: readonly string[] | undefined;
  withoutDefault: boolean;
}

/**
 * The policies of a child: the requested ones, otherwise the caller's, and `default` unless it is excluded. Without
 * `sudo`, they must be a subset of the caller's, and `default` is added only if the caller has it. `root` can be given
 * only by `root`. In another namespace the same names denote other policies, so there nothing is inherited and `sudo`
 * is needed (docs/conventions/access.md#child-tokens). Throws `forbidden` or `invalid` if the request exceeds this.
 */
export function childPolicies(
  caller: Caller,
  { policies: requested, withoutDefault }: PolicyRequest,
): string[] {
  const policies = normalisedPolicies(requested ?? caller.policies);
  const elsewhere = caller.namespace.id !== caller.tokenNamespace.id;
  requireMayGiveRoot(caller, policies);
  if (elsewhere && !maySudo(caller))
    throw new Problem('forbidden', 'a token in another namespace needs sudo');
  if (elsewhere && requested === undefined)
    throw invalid('policies is required for a token in another namespace');
  const mayGive = (policy: string) => maySudo(caller) || caller.policies.includes(policy);
  const beyond = policies.filter((policy) => !mayGive(policy));
  if (beyond.length > 0)
    throw invalid(`policies must be a subset of the parent token's: ${beyond.join(', ')}`);
  return withDefaultPolicy(policies, withoutDefault || !mayGive('default'));
}

/** Requires a root token for the policy `root`: neither `sudo` nor a role is sufficient. */
export function requireMayGiveRoot(caller: Caller, policies: readonly string[]): void {
  if (policies.includes('root') && !isRoot(caller))
    throw new Problem('forbidden', 'only a root token can create a token with the policy root');
}

/**
 * The addresses from which a child can be used: the requested ones, otherwise its parent's. Without `sudo`, they must
 * lie within the parent's; otherwise a bound token could create an unbound one. Throws `invalid` if they do not.
 */
export function childCidrs(
  caller: Caller,
  parentCidrs: readonly string[],
  requested: readonly string[] = [],
): readonly string[] {
  if (parentCidrs.length === 0) return requested;
  if (requested.length === 0) return parentCidrs;
  if (!areRangesWithin(requested, parentCidrs) && !maySudo(caller))
    throw invalid("bound_cidrs must lie within the parent token's");
  return requested;
}
