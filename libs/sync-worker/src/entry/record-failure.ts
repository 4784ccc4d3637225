import { Fault, nextStatus, syncLogFields } from '@secrets/domain';
import { scopeOf } from '@secrets/scheduler';
import { type ClaimedEntry, failEntry } from '@secrets/sync-entries';
import { levelOfFailure } from '../limits/log-levels.ts';
import { type FailureKind, nextAttempt } from '../limits/retry-policy.ts';
import type { AttemptContext } from './entry-statements.ts';
import type { WorkerContext } from './worker-context.ts';

/** Why an attempt failed. */
export interface Failure {
  kind: FailureKind;
  /** Shown to users as `last_error`. */
  message: string;
  retryAfterSeconds: number | undefined;
  /** For `rejected`: the same request may succeed later. */
  mayPass: boolean;
  error: unknown;
}

/** The destination and the secret of an entry, for the log. */
export type EntryNames = Pick<AttemptContext, 'destination' | 'source'>;

/** Classifies what an attempt threw. Anything but a `Fault` is a bug, whose details only the log shows. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Fault) {
    const { kind, message, retryAfterSeconds, mayPass } = error;
    return { kind, message, retryAfterSeconds, mayPass, error };
  }
  return {
    kind: 'crashed',
    message: 'an internal error; see the log of the sync worker',
    retryAfterSeconds: undefined,
    mayPass: false,
    error,
  };
}

/** Pause of an entry whose call began before a pause of its lane or destination ended: its failure changes nothing. */
const lateRetrySeconds = 1;

/**
 * Records the failure and schedules the next attempt. A failure of the lane or destination pauses it, and the entry is tried
 * again when the pause ends. An external secret that was only refreshed is still to be removed, so it is tried again in any case.
 * Returns whether the claim still held; otherwise nothing was recorded of the entry.
 */
export async function recordFailure(
  { db, limits: { lanes }, observe: { log } }: WorkerContext,
  entry: ClaimedEntry,
  failure: Failure,
  { laneId, startedAtMs, names }: { laneId?: string; startedAtMs: number; names?: EntryNames },
): Promise<boolean> {
  const { kind, message, mayPass } = failure;
  const pause =
    kind === 'crashed' || laneId === undefined
      ? 0
      : await lanes.failed(
          { laneId, destinationId: entry.destinationId, startedAtMs },
          { fault: kind, retryAfterSeconds: failure.retryAfterSeconds },
          entry.id,
        );
  const retryInSeconds =
    kind !== 'crashed' && scopeOf(kind) !== 'entry'
      ? Math.max(pause, lateRetrySeconds)
      : nextAttempt({ ...failure, mayPass: mayPass || entry.isRefreshed }, entry.attempts, Math.random());
  const attempts = entry.attempts + 1;
  const isHeld = await failEntry(db, entry, {
    status: kind === 'crashed' ? nextStatus.crashed() : nextStatus.failed(kind, attempts),
    fault: kind === 'crashed' ? null : kind,
    error: message,
    retryInSeconds,
  });
  const fields = {
    ...entryLogFields(entry, names),
    fault: kind,
    attempts,
    retryInSeconds,
  };
  if (kind === 'crashed') log.error({ ...fields, error: failure.error }, 'sync failed unexpectedly');
  else log[levelOfFailure[kind]]({ ...fields, reason: message }, 'sync failed');
  return isHeld;
}

/** Fields of a log line about an entry. The names are missing if the entry could not be read. */
export const entryLogFields = (
  entry: { id: string; destinationId: string; externalName: string },
  names: EntryNames | undefined,
) =>
  names === undefined
    ? { entryId: entry.id, destinationId: entry.destinationId, externalName: entry.externalName }
    : syncLogFields({ destination: names.destination, source: names.source, entry });

/**
 * Logs that a look has failed: once per hour for a destination and a cause at the level of that, and otherwise as `info`. That
 * the store may not show the last push yet, or that the worker stops, is no failure of the destination.
 */
export function logFailedLook(
  { observe: { log, failedLooks }, limits }: WorkerContext,
  of: { destinationId: string; [field: string]: unknown },
  { kind, message, error }: Failure,
): void {
  const fields = { ...of, fault: kind };
  const isExpected = kind === 'not_ready' || limits.attempts.isCancelled;
  if (kind === 'crashed') log.error({ ...fields, error }, 'a look failed unexpectedly');
  else if (!isExpected && failedLooks.isNew(of.destinationId, kind))
    log[levelOfFailure[kind]]({ ...fields, reason: message }, 'a look failed');
  else log.info({ ...fields, reason: message }, 'a look failed');
}
