import type { Verdict } from '@secrets/broker';
import { Fault, type ReadFailure, type StoreAnswer, type StoreReadMessage } from '@secrets/domain';
import { answerStoreRead, claimStoreRead, type StoreRead } from '@secrets/sync-entries';
import { abortable } from '../driver/abortable.ts';
import type { ListedSecret, ListPage } from '../driver/look.ts';
import { failureOf } from '../entry/record-failure.ts';
import type { WorkerContext } from '../entry/worker-context.ts';
import type { Slot } from '../limits/slots.ts';
import { cutList } from './cut-list.ts';

/**
 * Handles one message: lists external secrets for a request that waits, which changes nothing. A read is never repeated: if the
 * worker dies, the request waits in vain.
 */
export async function handleStoreRead(
  worker: WorkerContext,
  { check_id: id }: StoreReadMessage,
): Promise<Verdict> {
  const read = await claimStoreRead(worker.db, id);
  if (read !== undefined) await answerStoreRead(worker.db, id, await answerOf(worker, read));
  return 'ack';
}

/** Reads wait like entries for a slot of their worker, so they must not take all of them. */
const maxRunning = 2;
const runningByWorker = new WeakMap<WorkerContext, number>();

async function answerOf(worker: WorkerContext, read: StoreRead): Promise<StoreAnswer> {
  const startedAtMs = performance.now();
  const running = runningByWorker.get(worker) ?? 0;
  runningByWorker.set(worker, running + 1);
  let slot: Slot | undefined;
  try {
    if (running >= maxRunning)
      throw new Fault('unavailable', 'too many reads are running; try again in a moment');
    slot = await slotOf(worker, read);
    const { secrets, next } = cutList(await list(worker, read, startedAtMs), read.question);
    return { secrets: secrets.map(presentListed), next };
  } catch (error) {
    return { failure: await failed(worker, read, startedAtMs, error) };
  } finally {
    runningByWorker.set(worker, runningByWorker.get(worker)! - 1);
    slot?.release();
  }
}

async function slotOf({ limits }: WorkerContext, { destination: { id } }: StoreRead): Promise<Slot> {
  const slot = await limits.slots.acquire(id);
  if (slot === undefined) throw new Fault('unavailable', 'the destination has stopped responding');
  slot.whenSlow(() => limits.lanes.slow(id));
  return slot;
}

function list(
  { clients, limits }: WorkerContext,
  { destination, question, milliseconds }: StoreRead,
  startedAtMs: number,
): Promise<ListPage> {
  return limits.attempts.run(startedAtMs, (ofAttempt) => {
    const leftMs = startedAtMs + milliseconds - performance.now();
    const signal = AbortSignal.any([ofAttempt, AbortSignal.timeout(Math.max(0, Math.ceil(leftMs)))]);
    const listing = clients.use(destination, (connected) =>
      abortable(connected.list(question.after.page, signal), signal, timedOut),
    );
    return abortable(listing, signal, timedOut);
  });
}

const timedOut = () => new Fault('unavailable', 'the destination did not respond in time');

const presentListed = ({ createdAt, changedAt, ...secret }: ListedSecret) => ({
  ...secret,
  createdAt: createdAt?.toISOString() ?? null,
  changedAt: changedAt?.toISOString() ?? null,
});

/** Only throttling is reported to the lane, because it affects the account. */
async function failed(
  { limits: { lanes }, observe: { log } }: WorkerContext,
  { destination: { id: destinationId }, laneId }: StoreRead,
  startedAtMs: number,
  thrown: unknown,
): Promise<ReadFailure> {
  const { kind, message, retryAfterSeconds, error } = failureOf(thrown);
  const fields = { destinationId, fault: kind };
  if (kind === 'crashed') log.error({ ...fields, error }, 'a list failed unexpectedly');
  else log.info({ ...fields, reason: message }, 'a list failed');
  if (kind === 'throttled')
    await lanes.failed({ laneId, destinationId, startedAtMs }, { fault: kind, retryAfterSeconds });
  const after = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return { fault: kind === 'crashed' ? null : kind, message, ...after };
}
