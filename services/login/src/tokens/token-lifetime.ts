import type { LeaseLimits } from '../queries/auth-mounts.ts';
import type { Lifetime } from '../queries/tokens/new-tokens.ts';
import type { StoredToken } from '../queries/tokens/stored-tokens.ts';

/** Default and maximum lifetime of a token: 768 h (docs/conventions/access.md#token-lifetimes). */
export const systemTtlSeconds = 768 * 3_600;

/** The requested lifetime, in seconds. Absent and 0 request nothing. */
export interface LifetimeRequest {
  ttlSeconds?: number | undefined;
  maxTtlSeconds?: number | undefined;
  explicitMaxTtlSeconds?: number | undefined;
  periodSeconds?: number | undefined;
}

/** The limits of a mount as they apply. */
export function effectiveLimits({ defaultLeaseSeconds, maxLeaseSeconds }: LeaseLimits): LeaseLimits {
  const max = Math.min(maxLeaseSeconds || Infinity, systemTtlSeconds);
  return { maxLeaseSeconds: max, defaultLeaseSeconds: Math.min(defaultLeaseSeconds || Infinity, max) };
}

const systemLimits: LeaseLimits = { defaultLeaseSeconds: 0, maxLeaseSeconds: 0 };

interface LifetimeOptions {
  /** Whether an empty request means that the token does not expire, as for root tokens. */
  forever?: boolean;
  /** Of the auth mount that issues the token. */
  limits?: LeaseLimits;
}

/** The lifetime of a new token: as requested, shortened to its own maxima, the mount's and the system's. */
export function planLifetime(
  request: LifetimeRequest,
  now: Date,
  { forever = false, limits = systemLimits }: LifetimeOptions = {},
): Lifetime {
  const { defaultLeaseSeconds, maxLeaseSeconds } = effectiveLimits(limits);
  const explicitMaxTtlSeconds = request.explicitMaxTtlSeconds ?? 0;
  const isEmpty =
    !request.ttlSeconds && !request.maxTtlSeconds && !explicitMaxTtlSeconds && !request.periodSeconds;
  if (forever && isEmpty) return endless;
  const periodSeconds = Math.min(request.periodSeconds ?? 0, maxLeaseSeconds);
  const maxSeconds = Math.min(
    maxLeaseSeconds,
    explicitMaxTtlSeconds || Infinity,
    request.maxTtlSeconds || Infinity,
  );
  const requested = periodSeconds || request.ttlSeconds || defaultLeaseSeconds;
  const limit = periodSeconds ? explicitMaxTtlSeconds || Infinity : maxSeconds;
  const ttlSeconds = Math.min(requested, limit);
  return {
    ttlSeconds,
    periodSeconds,
    explicitMaxTtlSeconds,
    expiresAt: after(now, ttlSeconds),
    maxExpiresAt: Number.isFinite(limit) ? after(now, limit) : null,
  };
}

/**
 * A token within the current limits of the mount that issued it, and of what would now be requested for it: for a
 * renewal, because both may be lower than at the login. A higher limit changes nothing.
 */
export function withinLimits<Token extends Pick<StoredToken, 'periodSeconds' | 'maxExpiresAt' | 'createdAt'>>(
  token: Token,
  limits: LeaseLimits,
  current: LifetimeRequest = { periodSeconds: token.periodSeconds },
): Token {
  const { maxLeaseSeconds } = effectiveLimits(limits);
  const { explicitMaxTtlSeconds, maxTtlSeconds } = current;
  const periodSeconds = Math.min(token.periodSeconds, current.periodSeconds ?? 0, maxLeaseSeconds);
  const maxSeconds = Math.min(
    explicitMaxTtlSeconds || Infinity,
    ...(periodSeconds > 0 ? [] : [maxTtlSeconds || Infinity, maxLeaseSeconds]),
  );
  const limit = Number.isFinite(maxSeconds) ? after(token.createdAt, maxSeconds) : null;
  return { ...token, periodSeconds, maxExpiresAt: earliest(token.maxExpiresAt, limit) };
}

const endless: Lifetime = {
  ttlSeconds: 0,
  periodSeconds: 0,
  explicitMaxTtlSeconds: 0,
  expiresAt: null,
  maxExpiresAt: null,
};

/** A token's expiry after a renewal: never past its maximum, but earlier than before if less is requested. Null means never. */
export function renewedExpiry(
  token: Pick<Lifetime, 'ttlSeconds' | 'periodSeconds' | 'expiresAt' | 'maxExpiresAt'>,
  incrementSeconds: number | undefined,
  now: Date,
): Date | null {
  if (token.expiresAt === null) return null;
  const requested = after(now, token.periodSeconds || incrementSeconds || token.ttlSeconds);
  return earliest(requested, token.maxExpiresAt);
}

/** When a token expires: at its own expiry or its ancestors' earliest one, whichever comes first. Null means never. */
export const effectiveExpiry = (token: Pick<StoredToken, 'expiresAt' | 'ancestorsExpireAt'>): Date | null =>
  earliest(token.expiresAt, token.ancestorsExpireAt);

/** The earlier of two expiries. Null means never. */
export const earliest = (a: Date | null, b: Date | null): Date | null =>
  a === null || b === null ? (a ?? b) : new Date(Math.min(a.getTime(), b.getTime()));

/** Seconds until a token expires, rounded up; 0 for a token that does not expire. */
export const secondsLeft = (expiresAt: Date | null, now: Date): number =>
  expiresAt === null ? 0 : Math.max(0, Math.ceil((expiresAt.getTime() - now.getTime()) / 1000));

const after = (now: Date, seconds: number): Date => new Date(now.getTime() + seconds * 1000);
