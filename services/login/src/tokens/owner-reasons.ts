import { areWithinLimit, identityPolicyLimit } from '@secrets/access';
import type { DbContext } from '../db-context.ts';
import { findOwnerState, type LoginIdentity } from '../queries/tokens/login-tokens.ts';

/** Reasons why an identity that a login proved cannot have tokens; undefined for each that does not apply. */
export interface OwnerReasons {
  entity: string | undefined;
  groups: string | undefined;
  policies: string | undefined;
}

/** Finds the reasons that are stored (docs/conventions/access.md#groups). Changes nothing. */
export async function findOwnerReasons(
  { db }: DbContext,
  identity: Omit<LoginIdentity, 'source'>,
): Promise<OwnerReasons> {
  const { isDisabled, areGroupsKnown, identityPolicies } = await findOwnerState(db, identity);
  return {
    entity: isDisabled ? 'the entity of this identity is disabled' : undefined,
    groups: areGroupsKnown
      ? undefined
      : 'the login does not name the groups of this identity, and no earlier login did',
    policies: policiesReason(identityPolicies),
  };
}

/** Why tokens with these policies of an identity could not be used. */
export const policiesReason = (identityPolicies: readonly string[]): string | undefined =>
  areWithinLimit(identityPolicies)
    ? undefined
    : `the policies of this identity and its groups exceed ${identityPolicyLimit}`;
