import type { Verdict } from '@secrets/broker';
import { isUnavailable } from '@secrets/db';
import { EntryMessage } from '@secrets/domain';
import {
  actionOf,
  type ClaimedEntry,
  postponeEntry,
  releaseClaim,
  shortenLease,
} from '@secrets/sync-entries';
import { type Span, traced } from '@secrets/telemetry';
import { releaseDelaySeconds } from '../limits/retry-policy.ts';
import type { Slot } from '../limits/slots.ts';
import type { AttemptContext, Claim } from './entry-statements.ts';
import { type EntryNames, entryLogFields, type Failure, failureOf, recordFailure } from './record-failure.ts';
import { workOnEntry } from './work-on-entry.ts';
import type { WorkerContext } from './worker-context.ts';

/**
 * Handles one message: claims the entry, works on it, records the outcome, and only then acknowledges the message. If
 * the worker dies in between, the entry becomes due again when its lease ends.
 */
export async function handleEntry(worker: WorkerContext, message: unknown): Promise<Verdict> {
  const parsed = EntryMessage.safeParse(message);
  if (!parsed.success) return 'dead-letter';
  const { entry_id: entryId, destination_id: destinationId } = parsed.data;
  const claim = worker.limits.slots.isStalled(destinationId)
    ? undefined
    : await worker.entries.statements.claim(entryId);
  if (claim === undefined) await postponeEntry(worker.db, entryId);
  else
    await traced(
      () => spanOf(claim),
      (span) => attemptClaimed(worker, claim, span),
    );
  return 'ack';
}

/** An attempt belongs to the trace of the newest intent that it achieves, whichever announcement led to it. */
const spanOf = ({ entry }: Claim) => ({
  name: 'sync entry',
  kind: 'consumer' as const,
  parent: entry.traceparent,
  attributes: {
    entry_id: entry.id,
    destination_id: entry.destinationId,
    attempt: entry.attempts + 1,
    action: actionOf(entry),
  },
});

interface Call {
  startedAtMs: number;
  /** Undefined until the entry was read. */
  laneId?: string;
  names?: EntryNames;
  /** Undefined until the call may begin. */
  slot?: Slot | undefined;
  /** Whether the claim was released without a call. */
  isReleased?: boolean;
}

async function attemptClaimed(worker: WorkerContext, claim: Claim, span: Span | undefined): Promise<void> {
  const { entry } = claim;
  const stopTimer = worker.observe.metrics.startAttempt();
  const call: Call = { startedAtMs: performance.now() };
  try {
    const failure = await tryEntry(worker, claim, call);
    const isGivenUp =
      failure !== undefined && (worker.limits.attempts.isCancelled || isUnavailable(failure.error));
    stopTimer(isGivenUp || call.isReleased ? 'given_up' : (failure?.kind ?? 'done'));
    if (failure !== undefined) span?.fail(isGivenUp ? 'given_up' : failure.kind);
    if (failure !== undefined)
      await record(worker, entry, () =>
        isGivenUp ? releaseEntry(worker, entry, call.names) : recordFailure(worker, entry, failure, call),
      );
  } finally {
    call.slot?.release(); // after a failure not before it is recorded: it may have paused the destination
  }
}

/** Records a failure. If the claim is lost, or the database does not answer, the entry is marked for verification. */
async function record(
  { entries: { lostClaims } }: WorkerContext,
  entry: ClaimedEntry,
  failure: () => Promise<boolean>,
): Promise<void> {
  let isHeld = false;
  try {
    isHeld = await failure();
  } finally {
    if (!isHeld) lostClaims.add(entry);
  }
}

/**
 * The worker is stopping, or the database did not answer or has kept a lock. The failure says nothing about the destination,
 * so it is not recorded. Returns whether the claim still held.
 */
async function releaseEntry(
  { db, observe, limits: { attempts } }: WorkerContext,
  entry: ClaimedEntry,
  names: EntryNames | undefined,
): Promise<boolean> {
  const isHeld = await shortenLease(db, entry, releaseDelaySeconds);
  const reason = attempts.isCancelled ? 'the worker is stopping' : 'the database was unavailable';
  observe.log.info({ ...entryLogFields(entry, names), reason }, 'attempt abandoned; will be retried');
  return isHeld;
}

/**
 * Returns the failure of an attempt; undefined if it succeeded, if its lease was lost to another worker, or if the destination
 * cannot be called now, so that the entry was released.
 */
async function tryEntry(worker: WorkerContext, claim: Claim, call: Call): Promise<Failure | undefined> {
  const { entry } = claim;
  let context: AttemptContext | undefined;
  try {
    context = await worker.entries.statements.readContext(entry.id);
    if (context === undefined || isTooLate(worker, claim, context)) return undefined;
    call.laneId = context.lane.id;
    call.names = { destination: context.destination, source: context.source };
    const waitingSince = performance.now();
    const slot = await worker.limits.slots.acquire(entry.destinationId);
    call.slot = slot;
    if (slot !== undefined && (await mayCall(worker, claim, { context, waitingSince })))
      await work(worker, claim, { context, slot, call });
    else {
      call.isReleased = true;
      await releaseClaim(worker.db, entry);
    }
    return undefined;
  } catch (error) {
    return failureOf(error);
  } finally {
    context?.release();
  }
}

/**
 * The time limit counts from before the claim was sent. If the database was so slow that it has passed already, the destination
 * is not called, and the entry is due again when its lease ends.
 */
function isTooLate({ limits, observe }: WorkerContext, { entry, sentAt }: Claim, names: EntryNames): boolean {
  if (!limits.attempts.isOver(sentAt)) return false;
  const fields = { ...entryLogFields(entry, names), fence: entry.fence };
  observe.log.warn(fields, 'the database was too slow for an attempt; will be retried when the lease ends');
  return true;
}

/** An entry that has waited for its slot for longer is compared with the database again before its destination is called. */
const confirmAfterMs = 250;

/**
 * Whether the call may begin after the entry has waited for its slot: there is time left, and the context that was read is still
 * valid.
 */
async function mayCall(
  worker: WorkerContext,
  claim: Claim,
  { context, waitingSince }: { context: AttemptContext; waitingSince: number },
): Promise<boolean> {
  if (worker.limits.attempts.isHalfOver(waitingSince)) return false;
  const hasWaited = performance.now() - waitingSince > confirmAfterMs;
  if (hasWaited && !(await worker.entries.statements.confirm(claim.entry, context))) return false;
  return isOpen(worker, claim, context);
}

/**
 * Whether the attempt has time left, and neither syncing was disabled nor the destination paused, as far as this worker knows.
 */
const isOpen = (
  { limits: { attempts, lanes, isEnabled } }: WorkerContext,
  { entry, sentAt }: Claim,
  { lane }: AttemptContext,
): boolean =>
  isEnabled() &&
  !attempts.isCancelled &&
  !attempts.isOver(sentAt) &&
  !lanes.isPausedSince({ laneId: lane.id, destinationId: entry.destinationId }, sentAt);

async function work(
  worker: WorkerContext,
  { entry, sentAt }: Claim,
  { context, slot, call }: { context: AttemptContext; slot: Slot; call: Call },
): Promise<void> {
  const { limits, entries, observe } = worker;
  const { lane } = context;
  call.startedAtMs = performance.now();
  slot.whenSlow(() => limits.lanes.slow(entry.destinationId));
  let hasAnswered = false;
  const attempt = {
    entry,
    context,
    onAnswer: () => {
      hasAnswered = true;
      slot.release(); // the next call begins while this outcome is recorded
    },
  };
  const isHeld = await limits.attempts.run(sentAt, (signal) => workOnEntry(worker, { ...attempt, signal }));
  if (isHeld)
    observe.metrics.achieved(actionOf(entry), entry.waitedSeconds + (performance.now() - sentAt) / 1_000);
  else {
    observe.metrics.leaseLost();
    entries.lostClaims.add(entry);
    observe.log.warn(
      { ...entryLogFields(entry, context), fence: entry.fence },
      'the lease of an entry was lost before completion; it is verified',
    );
  }
  if (hasAnswered) {
    const report = { laneId: lane.id, destinationId: entry.destinationId, startedAtMs: call.startedAtMs };
    await limits.lanes.succeeded(report, lane.isUnhealthy);
  }
}
