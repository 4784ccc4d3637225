import type { FaultKind } from '@secrets/domain';

/** How long each kind of fault waits before a retry. `null`: no retry before the operator acts or a new intent comes. */
export const retryPolicy: Record<FaultKind | 'crashed', { firstSeconds: number; maxSeconds: number } | null> =
  {
    unauthenticated: null,
    forbidden: null,
    rejected: null,
    too_large: null,
    conflict: null,
    throttled: { firstSeconds: 1, maxSeconds: 300 },
    not_ready: { firstSeconds: 1, maxSeconds: 60 },
    unavailable: { firstSeconds: 1, maxSeconds: 600 },
    crashed: { firstSeconds: 5, maxSeconds: 600 },
  };

/**
 * Seconds until the next attempt: doubling with each attempt, never less than the destination asked for, jittered by
 * up to a half so that those who failed together do not come back together. Null: no attempt by itself.
 * `random` is in [0, 1).
 */
export function nextAttempt(
  failure: { kind: FaultKind | 'crashed'; retryAfterSeconds?: number | undefined },
  attempts: number,
  random: number,
): number | null {
  const policy = retryPolicy[failure.kind];
  if (policy === null) return null;
  const grown = Math.min(policy.maxSeconds, policy.firstSeconds * 2 ** Math.min(attempts, 30));
  return Math.max(grown, failure.retryAfterSeconds ?? 0) * (1 + random / 2);
}

/** Seconds for which a whole destination pauses after so many failures in a row; shorter than an entry's own wait. */
export function destinationPause(failuresInARow: number, retryAfterSeconds: number | undefined): number {
  return Math.max(Math.min(60, 0.25 * 2 ** Math.min(failuresInARow, 10)), retryAfterSeconds ?? 0);
}
