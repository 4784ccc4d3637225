import type { Verdict } from '@secrets/broker';
import { EntryMessage } from '@secrets/domain';
import { type ClaimedEntry, postponeEntry, shortenLease } from '@secrets/sync-entries';
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
  const slot = await worker.slots.acquire(destinationId);
  if (slot === undefined) {
    await postponeEntry(worker.db, entryId);
    return 'ack';
  }
  try {
    await attempt(worker, entryId, slot);
  } finally {
    slot.release();
  }
  return 'ack';
}

async function attempt(worker: WorkerContext, entryId: string, slot: Slot): Promise<void> {
  const claim = await worker.statements.claim(entryId);
  if (claim === undefined) return postponeEntry(worker.db, entryId);
  await traced(
    () => spanOf(claim),
    (span) => attemptClaimed(worker, claim, slot, span),
  );
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

async function attemptClaimed(
  worker: WorkerContext,
  claim: Claim,
  slot: Slot,
  span: Span | undefined,
): Promise<void> {
  const { entry } = claim;
  const stopTimer = worker.metrics.startAttempt();
  const startedAtMs = Date.now();
  const lane: { id?: string } = {};
  slot.whenSlow(() => worker.lanes.slow(entry.destinationId));
  const failure = await tryEntry(worker, claim, { lane, startedAtMs });
  const isCancelled = failure !== undefined && worker.attempts.isCancelled;
  const outcome = isCancelled ? 'given_up' : (failure?.kind ?? 'done');
  stopTimer(outcome);
  if (failure !== undefined) span?.fail(outcome);
  if (isCancelled) await releaseEntry(worker, entry);
  else if (failure !== undefined)
    await recordFailure(worker, entry, failure, { laneId: lane.id, startedAtMs });
}

/** The worker is stopping. The failure says nothing about the destination, so it is not recorded. */
async function releaseEntry({ db, log }: WorkerContext, entry: ClaimedEntry): Promise<void> {
  await shortenLease(db, entry, releaseDelaySeconds);
  log.info({ entryId: entry.id }, 'attempt abandoned on shutdown; will be retried');
}

/**
 * Returns undefined if the attempt succeeded, or if its lease was lost: then another worker has the entry. The time limit
 * counts from before the claim was sent. If the database was so slow that it has passed already, the destination is not
 * called, and the entry is due again when its lease ends.
 */
async function tryEntry(
  worker: WorkerContext,
  { entry, sentAt }: Claim,
  { lane, startedAtMs }: { lane: { id?: string }; startedAtMs: number },
): Promise<Failure | undefined> {
  const { statements, attempts, lanes, metrics, log } = worker;
  const fields = { entryId: entry.id, fence: entry.fence };
  let context: AttemptContext | undefined;
  try {
    context = await statements.readContext(entry.id);
    if (context === undefined) return undefined;
    if (attempts.isOver(sentAt)) {
      log.warn(fields, 'the database was too slow for an attempt; will be retried when the lease ends');
      return undefined;
    }
    const { lane: ofLane } = context;
    lane.id = ofLane.id;
    let hasAnswered = false;
    const onAnswer = () => {
      hasAnswered = true;
    };
    const attempt = { entry, context, onAnswer };
    const isHeld = await attempts.run(sentAt, (signal) => workOnEntry(worker, { ...attempt, signal }));
    if (isHeld) metrics.achieved(entry.desired, entry.waitedSeconds + (performance.now() - sentAt) / 1_000);
    else {
      metrics.leaseLost();
      log.warn(fields, 'the lease of an entry was lost before completion');
    }
    if (hasAnswered)
      await lanes.succeeded(
        { laneId: ofLane.id, destinationId: entry.destinationId, startedAtMs },
        ofLane.isUnhealthy,
      );
    return undefined;
  } catch (error) {
    return failureOf(error);
  } finally {
    context?.release();
  }
}
