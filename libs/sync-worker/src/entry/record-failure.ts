import { Fault, nextStatus } from '@secrets/domain';
import {
  type ClaimedEntry,
  failEntry,
  pauseDestination,
  recordDestinationFailure,
} from '@secrets/sync-entries';
import {
  destinationPause,
  type FailureKind,
  nextAttempt,
  pausesDestination,
} from '../limits/retry-policy.ts';
import type { WorkerContext } from './worker-context.ts';

/** Why an attempt failed. */
export interface Failure {
  kind: FailureKind;
  /** Shown to users as `last_error`. */
  message: string;
  retryAfterSeconds: number | undefined;
  error: unknown;
}

/** Classifies what an attempt threw. Anything but a `Fault` is a bug, whose details only the log shows. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Fault) {
    return { kind: error.kind, message: error.message, retryAfterSeconds: error.retryAfterSeconds, error };
  }
  return {
    kind: 'crashed',
    message: 'an internal error; see the log of the sync worker',
    retryAfterSeconds: undefined,
    error,
  };
}

/** Records the failure, schedules the next attempt, and pauses the destination if the failure concerns all of it. */
export async function recordFailure(
  { db, log }: WorkerContext,
  entry: ClaimedEntry,
  failure: Failure,
): Promise<void> {
  const { kind, message } = failure;
  const pause = await pauseFor(db, entry.destinationId, failure);
  const delay = nextAttempt(failure, entry.attempts, Math.random());
  const retryInSeconds = delay === null ? null : Math.max(delay, pause);
  const attempts = entry.attempts + 1;
  await failEntry(db, entry, {
    status: kind === 'crashed' ? nextStatus.crashed() : nextStatus.failed(kind, attempts),
    fault: kind === 'crashed' ? null : kind,
    error: message,
    retryInSeconds,
  });
  const fields = {
    entryId: entry.id,
    destinationId: entry.destinationId,
    fault: kind,
    attempts,
    retryInSeconds,
  };
  if (kind === 'crashed') log.error({ ...fields, error: failure.error }, 'sync failed unexpectedly');
  else log.warn({ ...fields, reason: message }, 'sync failed');
}

/** Returns the seconds for which the destination now pauses; 0 if the failure concerns only the entry. */
async function pauseFor(db: WorkerContext['db'], destinationId: string, failure: Failure): Promise<number> {
  if (!pausesDestination(failure.kind)) return 0;
  const pause = destinationPause(failure, await recordDestinationFailure(db, destinationId));
  await pauseDestination(db, destinationId, pause);
  return pause;
}
