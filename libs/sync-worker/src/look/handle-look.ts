import type { Verdict } from '@secrets/broker';
import {
  type DriftPolicy,
  driftPolicies,
  Fault,
  type LookMessage,
  type LookPageMessage,
} from '@secrets/domain';
import {
  endInspectionPage,
  findInspectable,
  giveBackBudget,
  type InspectedEntry,
  mayBeLookedAt,
  recordFailedLook,
  recordLook,
  settlingMinutes,
} from '@secrets/sync-entries';
import { abortable } from '../driver/abortable.ts';
import type { InspectRequest, Look } from '../driver/look.ts';
import type { AttemptContext } from '../entry/entry-statements.ts';
import { entryLogFields, failureOf, logFailedLook } from '../entry/record-failure.ts';
import { settingsHash } from '../entry/values/push-identity.ts';
import { valueHash } from '../entry/values/value-hash.ts';
import type { WorkerContext } from '../entry/worker-context.ts';
import { levelOfDrift } from '../limits/log-levels.ts';
import type { FailureKind } from '../limits/retry-policy.ts';
import type { Slot } from '../limits/slots.ts';
import { driftOf } from './drift-of.ts';
import { isPushedValue } from './is-pushed-value.ts';
import { lookByList } from './look-by-list.ts';
import { outcomeOfLook } from './outcome-of-look.ts';

/**
 * Handles one message: looks at the external secret of an entry, and records what that proves.
 * If the worker dies in between, nothing is recorded, and whoever asked for the look asks again.
 */
export async function handleLook(worker: WorkerContext, message: LookMessage): Promise<Verdict> {
  const entry = await findInspectable(worker.db, message.entry_id);
  if (entry === undefined) return 'ack';
  const running = runningByWorker.get(worker) ?? 0;
  if (running >= maxRunning) await recordFailedLook(worker.db, entry, tooMany);
  else await counted(worker, running, async () => void (await lookAt(worker, entry)));
  return 'ack';
}

/**
 * Handles one message: looks at the external secrets of a page, two at a time, and more if somebody waits for it. Where lists
 * serve many of them, they are read first. Of the others, as many are looked at as calls were taken out of the budget, or ten;
 * the rest is the next page. That waits for calls that were not taken out of the budget: entries do not. If the destination
 * fails or is paused, syncing is disabled or held, or the worker stops, what is left is looked at a minute later. If the worker
 * dies, the message is delivered to another one.
 */
export async function handleLookPage(worker: WorkerContext, message: LookPageMessage): Promise<Verdict> {
  const { destination_id: destinationId, page_id: pageId, calls: paid, call_ms: callMs } = message;
  const { ids: left, pages, failure } = await lookByList(worker, message);
  const now = left.splice(0, Math.max(maxUnpaid, paid - pages));
  const calls = pages + now.length;
  let canContinue = failure === undefined || !ofDestination.has(failure);
  const lookAtSome = async () => {
    for (let id = now.shift(); id !== undefined && canContinue; id = now.shift())
      if (!(await lookAtOneOfPage(worker, message, id))) canContinue = false;
  };
  const atOnce = message.requested ? worker.limits.slots.spare : maxRunning;
  await Promise.all(Array.from({ length: atOnce }, lookAtSome));
  const unpaid = calls - now.length - paid;
  if (unpaid < 0) await giveBackBudget(worker.db, destinationId, -unpaid);
  const end = left.length > 0 ? 'cut' : 'complete';
  const pauseMs = Math.max(0, unpaid) * callMs;
  await endInspectionPage(worker.db, { destinationId, pageId }, canContinue ? end : 'failed', pauseMs);
  return 'ack';
}

/** Returns whether the next entry of the page may be looked at. If not, this one was not looked at either. */
async function lookAtOneOfPage(
  worker: WorkerContext,
  { destination_id: destinationId }: LookPageMessage,
  id: string,
): Promise<boolean> {
  const { isEnabled, attempts } = worker.limits;
  if (!isEnabled() || attempts.isCancelled) return false;
  const entry = await findInspectable(worker.db, id);
  if (entry === undefined) return mayBeLookedAt(worker.db, destinationId); // or else it is only left for later
  const failure = await lookAt(worker, entry);
  return failure === undefined || !ofDestination.has(failure);
}

/** Failures of the whole destination, which the next look would have as well. */
export const ofDestination: ReadonlySet<FailureKind> = new Set([
  'unauthenticated',
  'throttled',
  'unavailable',
]);

/** Looks at single external secrets that a page may make although they were not taken out of the budget before. */
const maxUnpaid = 10;

/** Looks wait like entries for a slot of their worker, so they must not take all of them. */
const maxRunning = 2;
const runningByWorker = new WeakMap<WorkerContext, number>();
const tooMany = 'too many looks are running; try again in a moment';

async function counted(worker: WorkerContext, running: number, look: () => Promise<void>): Promise<void> {
  runningByWorker.set(worker, running + 1);
  try {
    await look();
  } finally {
    runningByWorker.set(worker, runningByWorker.get(worker)! - 1);
  }
}

/** Returns why the look has failed; undefined if it has not. */
async function lookAt(worker: WorkerContext, entry: InspectedEntry): Promise<FailureKind | undefined> {
  const startedAtMs = performance.now();
  let context: AttemptContext | undefined;
  let slot: Slot | undefined;
  try {
    context = await worker.entries.statements.readContext(entry.id);
    if (context === undefined) return undefined;
    slot = await worker.limits.slots.acquire(entry.destinationId);
    if (slot === undefined) throw new Fault('unavailable', 'the destination has stopped responding');
    slot.whenSlow(() => worker.limits.lanes.slow(entry.destinationId));
    const readAtMs = performance.now();
    const look = await inspect(worker, entry, context);
    slot.release();
    slot = undefined;
    await conclude(worker, { entry, context, look, readAtMs });
    return undefined;
  } catch (error) {
    return await recordFailure(worker, { entry, context, startedAtMs }, error);
  } finally {
    slot?.release();
    context?.release();
  }
}

function inspect(
  { clients, keyRing, limits }: WorkerContext,
  { id: entryId, externalName, remote, putStartedAt, pushedHash }: InspectedEntry,
  { destination, place }: AttemptContext,
): Promise<Look> {
  if (place.isOfEarlierScope)
    throw new Fault(
      'rejected',
      'the scope of the destination was confirmed since the last put; set the secret',
    );
  const hash = valueHash(keyRing);
  const isSameValue: InspectRequest['isSameValue'] = (text) => isPushedValue(text, pushedHash, hash);
  const request = { entryId, externalName, remote, putStartedAt, isSameValue };
  return limits.attempts.run(performance.now(), (signal) =>
    clients.use(destination, (connected) => abortable(connected.inspect(request, signal), signal, timedOut)),
  );
}

const timedOut = () => new Fault('unavailable', 'the destination did not respond in time');

interface Looked {
  entry: InspectedEntry;
  context: AttemptContext;
  look: Look;
  /** When the read of the store began, in the time of `performance.now()`. */
  readAtMs: number;
}

async function conclude(
  { db, observe }: WorkerContext,
  { entry, context, look, readAtMs }: Looked,
): Promise<void> {
  const conclusion = driftOf(look, entry.isSettled);
  if (conclusion === undefined) throw new Fault('not_ready', unsettled);
  const { destination } = context;
  const hasSettings = entry.settingsHash === settingsHash(destination);
  const outcome = outcomeOfLook(policyOf(destination), { look, conclusion, before: entry, hasSettings });
  if (!(await recordLook(db, entry, outcome, performance.now() - readAtMs))) return;
  const { drift, evidence } = outcome;
  observe.metrics.looked(drift);
  if (drift === 'none') return;
  const level = levelOfDrift(policyOf(destination), drift);
  const fields = { ...entryLogFields(entry, context), drift, evidence };
  observe.log[level](fields, 'an external secret has drifted');
}

/** A value that a newer version has stored counts as the default. */
const policyOf = ({ settings }: AttemptContext['destination']): DriftPolicy =>
  driftPolicies.find((policy) => policy === settings.drift_policy) ?? 'report';

export const unsettled = `the last push was less than ${settlingMinutes} minutes ago, so what the store shows may be older; look again later`;

interface Looking {
  entry: InspectedEntry;
  /** Undefined if it could not be read. */
  context: AttemptContext | undefined;
  startedAtMs: number;
}

/**
 * Records why a look has failed, unless the worker has cancelled it to stop, and returns the fault. Only throttling is
 * reported to the lane, because it affects the account. Everything else is shown to whoever asked.
 */
async function recordFailure(
  worker: WorkerContext,
  { entry, context, startedAtMs }: Looking,
  thrown: unknown,
): Promise<FailureKind> {
  const { db, limits } = worker;
  const { destinationId } = entry;
  const laneId = context?.lane.id;
  const failure = failureOf(thrown);
  const { kind, message, retryAfterSeconds } = failure;
  logFailedLook(worker, entryLogFields(entry, context), failure);
  if (kind === 'throttled' && laneId !== undefined)
    await limits.lanes.failed({ laneId, destinationId, startedAtMs }, { fault: kind, retryAfterSeconds });
  if (limits.attempts.isCancelled) return kind;
  worker.observe.metrics.looked('unknown');
  await recordFailedLook(db, entry, message);
  return kind;
}
