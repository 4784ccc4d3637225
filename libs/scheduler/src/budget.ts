/** Limit of the calls in a lane: at most `burst` at once, and `perSecond` on average. */
export interface Budget {
  perSecond: number;
  burst: number;
  /** How many of its entries may be outstanding at most, whatever its window; 1 if its calls must not overlap. */
  maxOutstanding?: number;
}

/** A token bucket as it was last stored. */
export interface Bucket {
  tokens: number;
  /** Milliseconds since 1970. */
  refilledAtMs: number;
}

/**
 * The share of a budget that is used: the provider counts in its own windows, and calls admitted late in one may arrive early in
 * the next.
 */
const usableShare = 0.97;

/** Refills a bucket up to now. Does nothing if the clock went back. */
export function refill(bucket: Bucket, { perSecond, burst }: Budget, nowMs: number): Bucket {
  const elapsed = Math.max(0, nowMs - bucket.refilledAtMs) / 1_000;
  const tokens = Math.min(burst, bucket.tokens + elapsed * perSecond * usableShare);
  return { tokens, refilledAtMs: Math.max(nowMs, bucket.refilledAtMs) };
}

/** Returns the milliseconds after `refill` until the bucket has a whole token; 0 if it has one. */
export const untilNextToken = ({ tokens }: Bucket, { perSecond }: Budget): number =>
  tokens >= 1 ? 0 : ((1 - tokens) / (perSecond * usableShare)) * 1_000;
