import { type Caller, maySudo } from '@secrets/caller';
import { invalid, permissionDenied } from '@secrets/domain';
import { normalisedPolicies } from '../tokens/token-fields.ts';

/**
 * The policies that an entity or a group is to have, normalised. As for a child token, a caller without `sudo` can give
 * only those of its own token, and only in its own namespace, because elsewhere the same names denote other policies.
 * No caller can give `root` (docs/conventions/access.md#groups).
 * @param current those that it has already
 * @throws `invalid` or `forbidden`
 */
export function grantablePolicies(
  caller: Caller,
  requested: readonly string[] | undefined,
  current: readonly string[] = [],
): string[] {
  const policies = normalisedPolicies(requested ?? current);
  if (policies.includes('root')) throw invalid('policies: must not contain root');
  requireMayGive(
    caller,
    policies.filter((policy) => !current.includes(policy)),
  );
  return policies;
}

/** Requires that a caller may give policies to whoever is in a group, or to an entity. */
export function requireMayGive(caller: Caller, policies: readonly string[]): void {
  if (policies.length === 0 || maySudo(caller)) return;
  if (caller.namespace.id !== caller.tokenNamespace.id) throw permissionDenied();
  const beyond = policies.filter((policy) => !caller.policies.includes(policy));
  if (beyond.length > 0)
    throw invalid(`policies must be a subset of the token's, unless it has sudo: ${beyond.join(', ')}`);
}
