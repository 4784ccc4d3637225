import { areRangesWithin } from '@secrets/access';
import { type Caller, isRoot, maySudo } from '@secrets/caller';
import { invalid, permissionDenied } from '@secrets/domain';
import { normalisedPolicies, withDefaultPolicy } from '../token-fields.ts';

/** The part of a request for a token that concerns its policies. */
export interface PolicyRequest {
  policies: readonly string[] | undefined;
  withoutDefault: boolean;
}

/**
 * The policies of a child: the requested ones, otherwise the caller's. Without `sudo`, they must be a subset of the
 * caller's; `root` can be given only by `root`. In another namespace the same names denote other policies, so there
 * nothing is inherited and `sudo` is needed.
 */
export function childPolicies(caller: Caller, request: PolicyRequest): string[] {
  const elsewhere = caller.namespace.id !== caller.tokenNamespace.id;
  const requested = normalisedPolicies(request.policies ?? []);
  if (requested.includes('root') && !isRoot(caller)) throw permissionDenied();
  if (elsewhere && !maySudo(caller)) throw permissionDenied();
  if (requested.length === 0 && elsewhere)
    throw invalid('policies is required for a token in another namespace');
  const policies = requested.length === 0 ? normalisedPolicies(caller.policies) : requested;
  const beyond = policies.filter((policy) => policy !== 'default' && !caller.policies.includes(policy));
  if (beyond.length > 0 && !maySudo(caller))
    throw invalid(`policies must be a subset of the parent token's: ${beyond.join(', ')}`);
  return withDefaultPolicy(policies, request.withoutDefault);
}

/**
 * The addresses from which a child can be used: the requested ones, otherwise its parent's. Without `sudo`, they must
 * lie within the parent's; otherwise a bound token could create an unbound one.
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
