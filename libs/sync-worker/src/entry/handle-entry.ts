import type { Verdict } from '@secrets/broker';
import { EntryMessage } from '@secrets/domain';
import { type ClaimedEntry, postponeEntry, releaseClaim, shortenLease } from '@secrets/sync-entries';
import { type Span, traced } from '@secrets/telemetry';
import { releaseDelaySeconds } from '../limits/retry-policy.ts';
import type { Slot } from '../limits/slots.ts';
import type { AttemptContext, Claim } from './entry-statements.ts';
import { type Failure, failureOf, recordFailure } from './record-failure.ts';
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
  const claim = worker.slots.isStalled(destinationId) ? undefined : await worker.statements.claim(entryId);
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
    action: entry.desired === 'present' ? 'put' : 'remove',
  },
});

/** The call of a destination. */
interface Call {
  startedAtMs: number;
  /** Undefined until the entry was read. */
  laneId?: string;
  /** Undefined until the call may begin. */
  slot?: Slot | undefined;
  /** Whether it was not made, and the claim undone. */
  isReleased?: boolean;
}

async function attemptClaimed(worker: WorkerContext, claim: Claim, span: Span | undefined): Promise<void> {
  const { entry } = claim;
  const stopTimer = worker.metrics.startAttempt();
  const call: Call = { startedAtMs: Date.now() };
  try {
    const failure = await tryEntry(worker, claim, call);
    const isCancelled = failure !== undefined && worker.attempts.isCancelled;
    stopTimer(isCancelled || call.isReleased ? 'given_up' : (failure?.kind ?? 'done'));
    if (failure !== undefined) span?.fail(isCancelled ? 'given_up' : failure.kind);
    if (isCancelled) await releaseEntry(worker, entry);
    else if (failure !== undefined) await recordFailure(worker, entry, failure, call);
  } finally {
    call.slot?.release(); // after a failure not before it is recorded: it may have paused the destination
  }
}

/** The worker is stopping. The failure says nothing about the destination, so it is not recorded. */
async function releaseEntry({ db, log }: WorkerContext, entry: ClaimedEntry): Promise<void> {
  await shortenLease(db, entry, releaseDelaySeconds);
  log.info({ entryId: entry.id }, 'attempt abandoned on shutdown; will be retried');
}

/**
 * Returns undefined if the attempt succeeded, if its lease was lost, because then another worker has the entry, or if the destination cannot be
 * called now: then nothing was called, and the entry is due again.
 */
async function tryEntry(worker: WorkerContext, claim: Claim, call: Call): Promise<Failure | undefined> {
  const { entry } = claim;
  let context: AttemptContext | undefined;
  try {
    context = await worker.statements.readContext(entry.id);
    if (context === undefined || isTooLate(worker, claim)) return undefined;
    call.laneId = context.lane.id;
    const waitingSince = performance.now();
    const slot = await worker.slots.acquire(entry.destinationId);
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
 * The time limit counts from before the claim was sent. If the database was so slow that it has passed already, the destination is not
 * called, and the entry is due again when its lease ends.
 */
function isTooLate({ attempts, log }: WorkerContext, { entry, sentAt }: Claim): boolean {
  if (!attempts.isOver(sentAt)) return false;
  const fields = { entryId: entry.id, fence: entry.fence };
  log.warn(fields, 'the database was too slow for an attempt; will be retried when the lease ends');
  return true;
}

/** An entry that has waited for its slot for longer is compared with the database again before its destination is called. */
const confirmAfterMs = 250;

/**
 * Whether the call may begin after an entry has waited for its slot: if there is time left for it, and what it was read with is still valid.
 */
async function mayCall(
  worker: WorkerContext,
  claim: Claim,
  { context, waitingSince }: { context: AttemptContext; waitingSince: number },
): Promise<boolean> {
  const { attempts, statements } = worker;
  if (attempts.isHalfOver(waitingSince)) return false;
  const hasWaited = performance.now() - waitingSince > confirmAfterMs;
  if (hasWaited && !(await statements.confirm(claim.entry, context))) return false;
  return isOpen(worker, claim, context);
}

/** Whether the attempt has time left, and neither syncing was disabled nor the destination paused, as far as this worker knows. */
const isOpen = (
  { attempts, lanes, isEnabled }: WorkerContext,
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
  const { attempts, lanes, metrics, log } = worker;
  const { lane } = context;
  call.startedAtMs = Date.now();
  slot.whenSlow(() => lanes.slow(entry.destinationId));
  let hasAnswered = false;
  const attempt = {
    entry,
    context,
    onAnswer: () => {
      hasAnswered = true;
      slot.release(); // the next call begins while this outcome is recorded
    },
  };
  const isHeld = await attempts.run(sentAt, (signal) => workOnEntry(worker, { ...attempt, signal }));
  if (isHeld) metrics.achieved(entry.desired, entry.waitedSeconds + (performance.now() - sentAt) / 1_000);
  else {
    metrics.leaseLost();
    log.warn({ entryId: entry.id, fence: entry.fence }, 'the lease of an entry was lost before completion');
  }
  if (hasAnswered) {
    const report = { laneId: lane.id, destinationId: entry.destinationId, startedAtMs: call.startedAtMs };
    await lanes.succeeded(report, lane.isUnhealthy);
  }
}
