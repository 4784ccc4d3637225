import type { FaultKind } from '@secrets/domain';

/** Why an attempt failed: the driver's fault, or an error that is a bug. */
export type FailureKind = FaultKind | 'crashed';

interface Backoff {
  firstSeconds: number;
  maxSeconds: number;
}

/**
 * For faults that somebody has to fix elsewhere, in minutes to hours: a permission that takes effect late, a project that is
 * being created.
 */
const slow: Backoff = { firstSeconds: 60, maxSeconds: 3600 };

/**
 * The delay before an entry's next attempt, by the kind of failure. `null`: waiting cannot cure it, so there is no retry
 * until the operator acts or the intent changes. A failure
 * that pauses the destination or its lane (`libs/scheduler`) is retried when the pause ends, whatever this table says.
 */
const retryPolicy: Readonly<Record<FailureKind, Backoff | null>> = {
  unauthenticated: slow,
  forbidden: slow,
  rejected: null,
  too_large: null,
  full: slow,
  conflict: { firstSeconds: 5, maxSeconds: 3600 },
  throttled: { firstSeconds: 1, maxSeconds: 300 },
  unavailable: { firstSeconds: 1, maxSeconds: 600 },
  not_ready: { firstSeconds: 1, maxSeconds: 60 },
  crashed: { firstSeconds: 5, maxSeconds: 600 },
};

/** When a stopping worker releases an entry, requests that it sent may still arrive. The next attempt waits for them. */
export const releaseDelaySeconds = 2;

/** The parts of a failed attempt that determine the next one. */
interface FailedAttempt {
  kind: FailureKind;
  /** How long the destination asked to wait. */
  retryAfterSeconds?: number | undefined;
  /** For `rejected`: the same request may succeed later. */
  mayPass?: boolean;
}

/**
 * Returns the seconds until the entry's next attempt, or null if it is not retried automatically. The delay doubles with each
 * earlier attempt and is never shorter than the destination asked for, up to an hour. Jitter extends it by up to a half, so that
 * entries that failed together are not retried together. `random` is in [0, 1).
 */
export function nextAttempt(failed: FailedAttempt, earlierAttempts: number, random: number): number | null {
  const entry = failed.mayPass ? slow : retryPolicy[failed.kind];
  if (entry === null) return null;
  return (
    Math.max(delay(entry, earlierAttempts), Math.min(slow.maxSeconds, failed.retryAfterSeconds ?? 0)) *
    (1 + random / 2)
  );
}

/** The exponent is bounded to keep the power finite. */
const delay = ({ firstSeconds, maxSeconds }: Backoff, earlierFailures: number): number =>
  Math.min(maxSeconds, firstSeconds * 2 ** Math.min(earlierFailures, 30));
