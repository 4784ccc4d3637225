import type { FaultKind } from '@secrets/domain';

/** Why an attempt failed: the driver's fault, or an error that is a bug. */
export type FailureKind = FaultKind | 'crashed';

interface Backoff {
  firstSeconds: number;
  maxSeconds: number;
}

/** What follows a failure. */
interface RetryRule {
  /** Delay before the entry's next attempt. `null`: no retry until the operator acts or the intent changes. */
  entry: Backoff | null;
  /** How long the whole destination pauses, by its consecutive failures. `null`: only the entry waits. */
  destination: Backoff | null;
}

/** Shorter than the delay of an entry, so that the destination's other entries notice its recovery soon. */
const destinationBackoff = { firstSeconds: 0.5, maxSeconds: 60 };
const needsOperator = { entry: null, destination: null };

/** The one retry policy: what follows each kind of failure. */
const retryPolicy: Readonly<Record<FailureKind, RetryRule>> = {
  unauthenticated: needsOperator,
  forbidden: needsOperator,
  rejected: needsOperator,
  too_large: needsOperator,
  conflict: needsOperator,
  throttled: { entry: { firstSeconds: 1, maxSeconds: 300 }, destination: destinationBackoff },
  unavailable: { entry: { firstSeconds: 1, maxSeconds: 600 }, destination: destinationBackoff },
  not_ready: { entry: { firstSeconds: 1, maxSeconds: 60 }, destination: null },
  crashed: { entry: { firstSeconds: 5, maxSeconds: 600 }, destination: null },
};

/** When a stopping worker releases an entry, requests that it sent may still arrive. The next attempt waits for them. */
export const releaseDelaySeconds = 2;

/** A failed attempt, as far as it decides about the next one. */
interface FailedAttempt {
  kind: FailureKind;
  /** How long the destination asked to wait. */
  retryAfterSeconds?: number | undefined;
}

/**
 * Returns the seconds until the entry's next attempt, or null if there is none by itself. The delay doubles with each
 * earlier attempt and is never shorter than the destination asked for. Jitter extends it by up to a half, so that
 * entries that failed together are not retried together. `random` is in [0, 1).
 */
export function nextAttempt(failed: FailedAttempt, earlierAttempts: number, random: number): number | null {
  const { entry } = retryPolicy[failed.kind];
  if (entry === null) return null;
  return Math.max(delay(entry, earlierAttempts), failed.retryAfterSeconds ?? 0) * (1 + random / 2);
}

/** Whether the failure pauses the whole destination. */
export const pausesDestination = (kind: FailureKind): boolean => retryPolicy[kind].destination !== null;

/**
 * Returns the seconds for which the whole destination pauses after this many consecutive failures, at least one; never
 * less than the destination asked for.
 */
export function destinationPause(failed: FailedAttempt, consecutiveFailures: number): number {
  const { destination } = retryPolicy[failed.kind];
  if (destination === null) return 0;
  return Math.max(delay(destination, consecutiveFailures - 1), failed.retryAfterSeconds ?? 0);
}

/** The exponent is bounded to keep the power finite. */
const delay = ({ firstSeconds, maxSeconds }: Backoff, earlierFailures: number): number =>
  Math.min(maxSeconds, firstSeconds * 2 ** Math.min(earlierFailures, 30));
