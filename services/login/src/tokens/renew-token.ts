import { invalid, Problem } from '@secrets/domain';
import { type StoredToken, updateTokenExpiry } from '../queries/stored-tokens.ts';
import type { IssuedToken, TokenContext } from './issue-token.ts';
import { effectiveExpiry, renewedExpiry, secondsLeft, withinLimits } from './token-lifetime.ts';

/** The login that issued a token. */
export interface StoredLogin {
  mountId: string;
  mountType: string;
  /** As the login method stored it with the token (`LoginIdentity`). */
  source: unknown;
}

/** Whether a token may be renewed, and if not, why. */
export type RenewalDecision = { allowed: true } | { allowed: false; reason: string };

export interface RenewalContext extends TokenContext {
  /** The login methods, which decide whether the login that issued a token would still succeed. */
  methods: { mayRenew(login: StoredLogin): Promise<RenewalDecision> };
}

/**
 * Extends a token by the requested increment, otherwise by its own TTL. Throws `invalid` if the token is not renewable or
 * has expired, `forbidden` if its login would no longer succeed.
 */
export async function renewToken(
  context: RenewalContext,
  token: StoredToken,
  incrementSeconds: number | undefined,
): Promise<IssuedToken> {
  if (!token.renewable) throw invalid('the token is not renewable');
  await requireValidLogin(context, token);
  const now = new Date();
  const limited = token.mountId === null ? token : withinLimits(token, token.limits);
  const expiresAt = renewedExpiry(limited, incrementSeconds, now);
  if (!(await updateTokenExpiry(context.db, token.accessor, expiresAt)))
    throw invalid('the token has expired');
  return {
    token: null,
    accessor: token.accessor,
    policies: token.policies,
    identityPolicies: token.identityPolicies,
    metadata: token.metadata,
    leaseSeconds: secondsLeft(effectiveExpiry({ ...token, expiresAt }), now),
    renewable: true,
    entityId: token.entityId,
    type: 'service',
    orphan: token.parentAccessor === null,
    uses: token.usesLeft,
  };
}

async function requireValidLogin(context: RenewalContext, token: StoredToken): Promise<void> {
  const { mountId, mountType, loginSource } = token;
  if (mountId === null || mountType === null || loginSource === null) return;
  const decision = await context.methods.mayRenew({ mountId, mountType, source: loginSource });
  if (!decision.allowed) throw new Problem('forbidden', decision.reason);
}
