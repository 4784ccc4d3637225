/** Default and maximum lifetime of a token: 768 h (docs/conventions.md#22-token-lifetimes). */
export const systemTtlSeconds = 768 * 3_600;

/** The requested lifetime, in seconds. Absent and 0 request nothing. */
export interface LifetimeRequest {
  ttlSeconds?: number | undefined;
  maxTtlSeconds?: number | undefined;
  explicitMaxTtlSeconds?: number | undefined;
  periodSeconds?: number | undefined;
}

/** A token's lifetime as it is stored. */
export interface Lifetime {
  /** From now, and at each renewal; 0 is for ever. */
  ttlSeconds: number;
  periodSeconds: number;
  explicitMaxTtlSeconds: number;
  expiresAt: Date | null;
  /** No renewal goes past it; null for a periodic token without an explicit maximum. */
  maxExpiresAt: Date | null;
  /** Whether the requested lifetime was cut down to a maximum. */
  shortened: boolean;
}

/** The lifetime of a new token: as requested, cut down to its own maxima and the system's. `forever` is for root tokens with an empty request. */
export function planLifetime(request: LifetimeRequest, now: Date, { forever = false } = {}): Lifetime {
  const explicitMaxTtlSeconds = request.explicitMaxTtlSeconds ?? 0;
  const isEmpty =
    !request.ttlSeconds && !request.maxTtlSeconds && !explicitMaxTtlSeconds && !request.periodSeconds;
  if (forever && isEmpty) return endless;
  const periodSeconds = Math.min(request.periodSeconds ?? 0, systemTtlSeconds);
  const maxSeconds = Math.min(
    systemTtlSeconds,
    explicitMaxTtlSeconds || Infinity,
    request.maxTtlSeconds || Infinity,
  );
  const requested = periodSeconds || request.ttlSeconds || systemTtlSeconds;
  const limit = periodSeconds ? explicitMaxTtlSeconds || Infinity : maxSeconds;
  const ttlSeconds = Math.min(requested, limit);
  return {
    ttlSeconds,
    periodSeconds,
    explicitMaxTtlSeconds,
    expiresAt: after(now, ttlSeconds),
    maxExpiresAt: Number.isFinite(limit) ? after(now, limit) : null,
    shortened: ttlSeconds < (request.periodSeconds || request.ttlSeconds || 0),
  };
}

const endless: Lifetime = {
  ttlSeconds: 0,
  periodSeconds: 0,
  explicitMaxTtlSeconds: 0,
  expiresAt: null,
  maxExpiresAt: null,
  shortened: false,
};

/** A token's new end after a renewal: never past its maximum, never earlier than before. Null is for ever. */
export function renewedExpiry(
  token: Pick<Lifetime, 'ttlSeconds' | 'periodSeconds' | 'expiresAt' | 'maxExpiresAt'>,
  incrementSeconds: number | undefined,
  now: Date,
): Date | null {
  if (token.expiresAt === null) return null;
  const requested = after(now, token.periodSeconds || incrementSeconds || token.ttlSeconds);
  const latest = Math.min(requested.getTime(), token.maxExpiresAt?.getTime() ?? Infinity);
  return new Date(Math.max(latest, token.expiresAt.getTime()));
}

/** The earlier of two ends; null is for ever. */
export const earliest = (a: Date | null, b: Date | null): Date | null =>
  a === null || b === null ? (a ?? b) : new Date(Math.min(a.getTime(), b.getTime()));

/** Seconds until a token ends, rounded up; 0 for a token without an end. */
export const secondsLeft = (expiresAt: Date | null, now: Date): number =>
  expiresAt === null ? 0 : Math.max(0, Math.ceil((expiresAt.getTime() - now.getTime()) / 1000));

const after = (now: Date, seconds: number): Date => new Date(now.getTime() + seconds * 1000);
