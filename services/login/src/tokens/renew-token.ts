import { invalid, Problem } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import { type StoredToken, updateTokenExpiry } from '../queries/tokens/stored-tokens.ts';
import type { IssuedToken, TokenContext } from './issue-token.ts';
import { parseTokenRole } from './roles/role-settings.ts';
import { findBelievedRole } from './roles/save-token-role.ts';
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
  /** The text of the token, if the request contained it. */
  sent: Sealed<string> | undefined;
  incrementSeconds: number | undefined;
  remoteAddress: string;
  /** Whether whoever requests it has the token. Anyone else cannot shorten its lifetime. */
  isOwn: boolean;
}

/**
 * Sets the remaining lifetime of a token to the requested increment, otherwise to its own TTL. Throws `invalid` if the
 * token is not renewable or has expired, or its role no longer exists, `forbidden` if its login would no longer
 * succeed.
 */
export async function renewToken(
  context: RenewalContext,
  token: StoredToken,
  { sent, incrementSeconds, remoteAddress, isOwn }: RenewalRequest,
): Promise<IssuedToken> {
  if (!token.renewable) throw invalid('the token is not renewable');
  const lifetime =
    (await roleLifetime(context, token)) ?? (await requireValidLogin(context, token, remoteAddress));
  const now = new Date(context.db.now());
  const isLimited = token.mountId !== null || token.roleName !== null;
  const limited = isLimited ? withinLimits(token, token.limits, lifetime) : token;
  const { maxExpiresAt, periodSeconds } = limited;
  const requested = { expiresAt: renewedExpiry(limited, incrementSeconds, now), maxExpiresAt };
  // A period is what the operator decided, so it may have become shorter.
  const keepsLater = !isOwn && periodSeconds === 0;
  const updated = await updateTokenExpiry(context.db, token.accessor, { ...requested, keepsLater });
  if (updated === undefined) throw invalid('the token has expired');
  return {
    token: sent ?? null,
    accessor: token.accessor,
    policies: token.policies,
    identityPolicies: token.identityPolicies,
    metadata: token.metadata,
    leaseSeconds: secondsLeft(effectiveExpiry({ ...token, ...updated }), now),
    renewable: true,
    entityId: token.entityId,
    type: 'service',
    orphan: token.parentAccessor === null,
    uses: token.usesLeft,
  };
}

/** Returns what the token role would now request; undefined if the token has none. */
async function roleLifetime(
  context: TokenContext,
  { namespaceId, roleName }: StoredToken,
): Promise<LifetimeRequest | undefined> {
  if (roleName === null) return undefined;
  const stored = await findBelievedRole(context, namespaceId, roleName);
  if (stored === undefined) throw invalid(`the token role ${roleName} no longer exists`);
  const role = parseTokenRole(stored, roleName);
  return { periodSeconds: role.token_period, explicitMaxTtlSeconds: role.token_explicit_max_ttl };
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
