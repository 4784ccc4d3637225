import type { FaultKind } from '@secrets/domain';

/** The one retry policy: how long each kind of fault waits. `null` waits for the operator, or for a new intent. */
export const patience: Record<FaultKind | 'crashed', { firstSeconds: number; mostSeconds: number } | null> = {
  unauthenticated: null,
  forbidden: null,
  rejected: null,
  too_large: null,
  conflict: null,
  throttled: { firstSeconds: 1, mostSeconds: 300 },
  settling: { firstSeconds: 1, mostSeconds: 60 },
  unavailable: { firstSeconds: 1, mostSeconds: 600 },
  crashed: { firstSeconds: 5, mostSeconds: 600 },
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
  const waits = patience[failure.kind];
  if (waits === null) return null;
  const grown = Math.min(waits.mostSeconds, waits.firstSeconds * 2 ** Math.min(attempts, 30));
  return Math.max(grown, failure.retryAfterSeconds ?? 0) * (1 + random / 2);
}

/** Seconds for which a whole destination pauses after so many failures in a row; shorter than an entry's own wait. */
export function destinationPause(failuresInARow: number, retryAfterSeconds: number | undefined): number {
  return Math.max(Math.min(60, 0.25 * 2 ** Math.min(failuresInARow, 10)), retryAfterSeconds ?? 0);
}
