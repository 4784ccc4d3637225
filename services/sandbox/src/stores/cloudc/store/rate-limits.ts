import { LRUCache } from 'lru-cache';
import { TokenBucket } from '../../../faults/token-bucket.ts';
import { errorInfo, GoogleError } from '../google-error.ts';

/** The quotas on writes (https://cloud.google.com/secret-manager/quotas). */
const quotas = {
  /** AddSecretVersion and UpdateSecret, per secret. */
  secret: { perSecond: 2, burst: 2 },
  /** Enable, disable and destroy, per version. */
  version: { perSecond: 1, burst: 1 },
  /** All writes, per project: 600 per minute. */
  project: { perSecond: 10, burst: 600 },
} as const;

/** Counts writes and refuses those above the quotas, if that is enabled. */
export class RateLimits {
  readonly #isEnabled: boolean;
  readonly #buckets = new LRUCache<string, TokenBucket>({ max: 10_000 });

  constructor(isEnabled: boolean) {
    this.#isEnabled = isEnabled;
  }

  /** @throws GoogleError RESOURCE_EXHAUSTED */
  take(quota: keyof typeof quotas, name: string, nowMs: number): void {
    if (!this.#isEnabled) return;
    const { perSecond, burst } = quotas[quota];
    const key = `${quota} ${name}`;
    const bucket = this.#buckets.get(key) ?? new TokenBucket(perSecond, burst, nowMs);
    this.#buckets.set(key, bucket);
    if (!bucket.take(nowMs)) throw rateExceeded();
  }

  clear(): void {
    this.#buckets.clear();
  }
}

/** The error of a call above a quota. `retryAfterSeconds` is how long the client is asked to wait. */
export function rateExceeded(retryAfterSeconds?: number): GoogleError {
  const wait =
    retryAfterSeconds === undefined
      ? []
      : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterSeconds}s` }];
  const quota = {
    quota_metric: 'secretmanager.googleapis.com/write_requests',
    quota_limit: 'WriteRequestsPerMinutePerProject',
  };
  return new GoogleError(
    'RESOURCE_EXHAUSTED',
    "Quota exceeded for quota metric 'Write requests' and limit 'Write requests per minute' of service 'secretmanager.googleapis.com'.",
    [errorInfo('RATE_LIMIT_EXCEEDED', quota), ...wait],
  );
}
