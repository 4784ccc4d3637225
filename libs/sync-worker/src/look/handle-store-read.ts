import type { Verdict } from '@secrets/broker';
import {
  Fault,
  type ReadFailure,
  type StoreAnswer,
  type StoreReadMessage,
  syncLogFields,
} from '@secrets/domain';
import { answerStoreRead, claimStoreRead, type StoreRead } from '@secrets/sync-entries';
import { abortable } from '../driver/abortable.ts';
import type { ConnectedDestination } from '../driver/driver.ts';
import type { ListedSecret } from '../driver/look.ts';
import { failureOf } from '../entry/record-failure.ts';
import type { WorkerContext } from '../entry/worker-context.ts';
import type { Slot } from '../limits/slots.ts';
import { cutList } from './cut-list.ts';
import type { ImportWriter } from './import/import-writer.ts';
import { lookBeforeWriting } from './look-before-writing.ts';

/**
 * Handles one message: lists external secrets, or looks at some, for a request that waits, which changes nothing in the store. A
 * read is never repeated: if the worker dies, the request waits in vain.
 */
export async function handleStoreRead(
  worker: WorkerContext,
  imports: ImportWriter,
  { check_id: id }: StoreReadMessage,
): Promise<Verdict> {
  const read = await claimStoreRead(worker.db, id);
  if (read !== undefined) await answerStoreRead(worker.db, id, await answerOf(worker, imports, read));
  return 'ack';
}

/** Reads wait like entries for a slot of their worker, so they must not take all of them. */
const maxRunning = 2;
const runningByWorker = new WeakMap<WorkerContext, number>();

async function answerOf(worker: WorkerContext, imports: ImportWriter, read: StoreRead): Promise<StoreAnswer> {
  const startedAtMs = performance.now();
  const running = runningByWorker.get(worker) ?? 0;
  runningByWorker.set(worker, running + 1);
  try {
    if (running >= maxRunning)
      throw new Fault('unavailable', 'too many reads are running; try again in a moment');
    return await readStore(worker, { ...read, imports }, startedAtMs);
  } catch (error) {
    return { failure: await failed(worker, read, startedAtMs, error) };
  } finally {
    runningByWorker.set(worker, runningByWorker.get(worker)! - 1);
  }
}

async function slotOf({ limits }: WorkerContext, { destination: { id } }: StoreRead): Promise<Slot> {
  const slot = await limits.slots.acquire(id);
  if (slot === undefined) throw new Fault('unavailable', 'the destination has stopped responding');
  slot.whenSlow(() => limits.lanes.slow(id));
  return slot;
}

async function readStore(
  worker: WorkerContext,
  read: StoreRead & { imports: ImportWriter },
  startedAtMs: number,
): Promise<StoreAnswer> {
  const { question } = read;
  if ('secrets' in question)
    return {
      states: await lookBeforeWriting(
        { db: worker.db, keyRing: worker.keyRing, imports: read.imports },
        question.secrets,
        {
          inspect: (request) =>
            inTime(worker, read, startedAtMs, (store, signal) => store.inspect(request, signal)),
          failed: (error) => failed(worker, read, startedAtMs, error),
        },
      ),
    };
  const page = await inTime(worker, read, startedAtMs, (store, signal) =>
    store.list(question.after.page, signal),
  );
  const { secrets, next } = cutList(page, question);
  return { secrets: secrets.map(presentListed), next };
}

/** Makes a call that ends before the request does, unless syncing was disabled meanwhile. */
async function inTime<Result>(
  worker: WorkerContext,
  read: StoreRead,
  startedAtMs: number,
  call: (store: ConnectedDestination, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const slot = await slotOf(worker, read);
  try {
    if (!worker.limits.isEnabled()) throw new Fault('unavailable', 'syncing was disabled');
    return await worker.limits.attempts.run(startedAtMs, (ofAttempt) => {
      const leftMs = startedAtMs + read.milliseconds - performance.now();
      const signal = AbortSignal.any([ofAttempt, AbortSignal.timeout(Math.max(0, Math.ceil(leftMs)))]);
      const calling = worker.clients.use(read.destination, (connected) =>
        abortable(call(connected, signal), signal, timedOut),
      );
      return abortable(calling, signal, timedOut);
    });
  } finally {
    slot.release();
  }
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
  { destination, laneId }: StoreRead,
  startedAtMs: number,
  thrown: unknown,
): Promise<ReadFailure> {
  const { kind, message, retryAfterSeconds, error } = failureOf(thrown);
  const fields = { ...syncLogFields({ destination }), fault: kind };
  if (kind === 'crashed') log.error({ ...fields, error }, 'a read of the store failed unexpectedly');
  else log.info({ ...fields, reason: message }, 'a read of the store failed');
  if (kind === 'throttled')
    await lanes.failed(
      { laneId, destinationId: destination.id, startedAtMs },
      { fault: kind, retryAfterSeconds },
    );
  const after = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return { fault: kind === 'crashed' ? null : kind, message, ...after };
}
