import type { Verdict } from '@secrets/broker';
import { EntryMessage, Fault, nextStatus } from '@secrets/domain';
import {
  type ClaimedEntry,
  failEntry,
  pauseDestination,
  postponeEntry,
  recordDestinationFailure,
  recordDestinationSuccess,
  shortenLease,
} from '@secrets/sync-entries';
import { destinationPause, nextAttempt } from '../limits/retry-policy.ts';
import { workOnEntry } from './work-on-entry.ts';
import type { WorkerContext } from './worker-context.ts';

/**
 * What a worker does with one message: claims the entry, works on it, records the outcome, and only then lets go of
 * the message. Whatever dies in between, the entry comes due again when its lease ends.
 */
export async function handleEntry(worker: WorkerContext, message: unknown): Promise<Verdict> {
  const parsed = EntryMessage.safeParse(message);
  if (!parsed.success) return 'dead-letter';
  const { entry_id: entryId, destination_id: destinationId } = parsed.data;
  const slot = await worker.limiter.acquire(destinationId);
  if (slot === undefined) {
    await postponeEntry(worker.db, entryId, worker.limiter.retryDelaySeconds(destinationId));
    return 'ack';
  }
  try {
    await attempt(worker, entryId);
  } finally {
    slot.release();
  }
  return 'ack';
}

async function attempt(worker: WorkerContext, entryId: string): Promise<void> {
  const { db, statements, type, metrics } = worker;
  const entry = await statements.claim(entryId);
  if (entry === undefined) return postponeEntry(db, entryId);
  const finished = metrics.duration.startTimer({ destination_type: type });
  const failure = await tryEntry(worker, entry);
  const isCancelled = failure !== undefined && worker.attempts.isCancelled;
  finished({ outcome: isCancelled ? 'given_up' : (failure?.kind ?? 'done') });
  if (isCancelled) await releaseToOthers(worker, entry);
  else if (failure !== undefined) await recordFailure(worker, entry, failure);
}

/** Requests of a cancelled call may still arrive; the next attempt begins when that has become unlikely. */
const successorAfterSeconds = 2;

/** This worker stops: nothing is known of the destination, so nothing is said of it. */
async function releaseToOthers({ db, log }: WorkerContext, entry: ClaimedEntry): Promise<void> {
  await shortenLease(db, entry, successorAfterSeconds);
  log.info({ entryId: entry.id }, 'an attempt was given up, as the worker stops; another one follows');
}

/** Gives undefined when the attempt succeeded (or its lease was lost: then another one is at it). */
async function tryEntry(worker: WorkerContext, entry: ClaimedEntry): Promise<Failure | undefined> {
  const { db, statements, keyRing, clients, attempts, log, leaseSeconds } = worker;
  try {
    const context = await statements.readContext(entry.id);
    if (context === undefined) return undefined;
    const held = await attempts.run(leaseSeconds * 1000 * shareOfLease, (signal) =>
      workOnEntry({ db, statements, keyRing, clients, signal }, entry, context),
    );
    if (!held)
      log.warn(
        { entryId: entry.id, fence: entry.fence },
        'the lease of an entry was lost before it was completed',
      );
    if (context.isTroubled) await recordDestinationSuccess(db, entry.destinationId);
    return undefined;
  } catch (error) {
    return failureOf(error);
  }
}

/** An attempt ends well before its lease, so that what it still sends never meets its successor's. */
const shareOfLease = 0.6;

interface Failure {
  kind: Fault['kind'] | 'crashed';
  sentence: string;
  retryAfterSeconds: number | undefined;
  error: unknown;
}

function failureOf(error: unknown): Failure {
  if (error instanceof Fault) {
    return { kind: error.kind, sentence: error.message, retryAfterSeconds: error.retryAfterSeconds, error };
  }
  return {
    kind: 'crashed',
    sentence: 'an internal error; the log of the sync worker holds its cause',
    retryAfterSeconds: undefined,
    error,
  };
}

async function recordFailure(
  { db, log, type }: WorkerContext,
  entry: ClaimedEntry,
  failure: Failure,
): Promise<void> {
  const pause = await pauseFor(db, entry.destinationId, failure);
  const wait = nextAttempt(failure, entry.attempts, Math.random());
  const retryInSeconds = wait === null ? null : Math.max(wait, pause);
  await failEntry(db, entry, {
    status:
      failure.kind === 'crashed' ? nextStatus.crashed() : nextStatus.failed(failure.kind, entry.attempts + 1),
    fault: failure.kind === 'crashed' ? null : failure.kind,
    error: failure.sentence,
    retryInSeconds,
  });
  const fields = {
    entryId: entry.id,
    destinationId: entry.destinationId,
    destinationType: type,
    fault: failure.kind,
    attempts: entry.attempts + 1,
    retryInSeconds,
  };
  if (failure.kind === 'crashed') log.error({ ...fields, error: failure.error }, 'sync failed unexpectedly');
  else log.warn({ ...fields, reason: failure.sentence }, 'sync failed');
}

/** A destination that throttles or is down pauses as a whole, and alone. Seconds; 0 for faults of one entry. */
async function pauseFor(db: WorkerContext['db'], destinationId: string, failure: Failure): Promise<number> {
  if (failure.kind !== 'throttled' && failure.kind !== 'unavailable') return 0;
  const failures = await recordDestinationFailure(db, destinationId);
  const pause = destinationPause(failures, failure.retryAfterSeconds);
  await pauseDestination(db, destinationId, pause);
  return pause;
}
