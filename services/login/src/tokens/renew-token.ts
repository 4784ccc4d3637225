import { invalid, Problem } from '@secrets/domain';
import { type StoredToken, updateTokenExpiry } from '../queries/stored-tokens.ts';
import type { IssuedToken, TokenContext } from './issue-token.ts';
import {
  effectiveExpiry,
  type LifetimeRequest,
  renewedExpiry,
  secondsLeft,
  withinLimits,
} from './token-lifetime.ts';

/** The login that issued a token. */
export interface StoredLogin {
  mountId: string;
  mountType: string;
  /** As the login method stored it with the token (`LoginIdentity`). */
  source: unknown;
  /** From which the renewal was requested. */
  remoteAddress: string;
}

/** Whether a token may be renewed, and if not, why. `lifetime`: what a login would now request, which bounds the renewal. */
export type RenewalDecision =
  | { allowed: true; lifetime?: LifetimeRequest | undefined }
  | { allowed: false; reason: string };

export interface RenewalContext extends TokenContext {
  /** The login methods, which decide whether the login that issued a token would still succeed. */
  methods: { mayRenew(login: StoredLogin): Promise<RenewalDecision> };
}

interface RenewalRequest {
  incrementSeconds: number | undefined;
  remoteAddress: string;
}

/**
 * Extends a token by the requested increment, otherwise by its own TTL. Throws `invalid` if the token is not renewable or
 * has expired, `forbidden` if its login would no longer succeed.
 */
export async function renewToken(
  context: RenewalContext,
  token: StoredToken,
  { incrementSeconds, remoteAddress }: RenewalRequest,
): Promise<IssuedToken> {
  if (!token.renewable) throw invalid('the token is not renewable');
  const lifetime = await requireValidLogin(context, token, remoteAddress);
  const now = new Date();
  const limited = token.mountId === null ? token : withinLimits(token, token.limits, lifetime);
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

/** Returns what a login would now request. */
async function requireValidLogin(
  context: RenewalContext,
  { mountId, mountType, loginSource: source }: StoredToken,
  remoteAddress: string,
): Promise<LifetimeRequest | undefined> {
  if (mountId === null || mountType === null || source === null) return undefined;
  const decision = await context.methods.mayRenew({ mountId, mountType, source, remoteAddress });
  if (!decision.allowed) throw new Problem('forbidden', decision.reason);
  return decision.lifetime;
}
