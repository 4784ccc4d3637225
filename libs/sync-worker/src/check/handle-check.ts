import type { Verdict } from '@secrets/broker';
import { type CheckMessage, Fault } from '@secrets/domain';
import {
  claimCheck,
  endCheck,
  endUnstartedCheck,
  findLeftProbe,
  listLeftProbes,
  type Probe,
  recordLeftProbeRemoved,
  recordProbeRemoved,
} from '@secrets/sync-entries';
import { failureOf } from '../entry/record-failure.ts';
import type { WorkerContext } from '../entry/worker-context.ts';
import type { Slot } from '../limits/slots.ts';
import { ProbeCalls } from './probe-calls.ts';
import { runCheck, stepsOf } from './run-check.ts';

/**
 * Number of probes left by earlier checks that are removed after a check: by then, it is known whether the credentials work.
 */
const maxLeft = 3;
const removalMs = 10_000;

/**
 * Handles one message: runs the check, or removes the probe that it has left behind. If the worker dies in between, the probe
 * is left behind: a later check of the destination removes it, or the sweep requests it. A check is never repeated.
 */
export async function handleCheck(worker: WorkerContext, message: CheckMessage): Promise<Verdict> {
  const { check_id: checkId, destination_id: destinationId } = message;
  const claimed = await claimCheck(worker.db, checkId);
  if (claimed === undefined) await endUnstartedCheck(worker.db, checkId);
  const running = runningOf(worker);
  const kind = claimed === undefined ? 'removals' : 'checks';
  const isOneTooMany = running[kind] >= maxRunning;
  const claimedAtMs = performance.now();
  running[kind] += 1;
  let slot: Slot | undefined;
  try {
    slot = isOneTooMany ? undefined : await worker.limits.slots.acquire(destinationId);
    slot?.whenSlow(() => worker.limits.lanes.slow(destinationId));
    if (slot === undefined) await refuse(worker, claimed, isOneTooMany ? tooMany : silent);
    else if (claimed !== undefined) {
      const waitedMs = performance.now() - claimedAtMs; // part of the time that the check has
      await check(worker, { ...claimed, milliseconds: claimed.milliseconds - waitedMs });
    } else {
      const left = await findLeftProbe(worker.db, checkId);
      if (left !== undefined) await removeLeft(worker, left);
    }
  } finally {
    running[kind] -= 1;
    slot?.release();
  }
  return 'ack';
}

/**
 * Checks are not scheduled like entries, so they must not take the slots of all destinations of the type. The same goes for
 * removals.
 */
const maxRunning = 2;
interface Running {
  checks: number;
  removals: number;
}
const runningByWorker = new WeakMap<WorkerContext, Running>();

function runningOf(worker: WorkerContext): Running {
  const running = runningByWorker.get(worker) ?? { checks: 0, removals: 0 };
  runningByWorker.set(worker, running);
  return running;
}

const tooMany = 'too many checks are running; try again in a moment';
/** All slots that a destination may use are held by hanging calls. */
const silent = 'the destination has stopped responding';

async function refuse(
  { db }: WorkerContext,
  claimed: { probe: Probe } | undefined,
  reason: string,
): Promise<void> {
  if (claimed === undefined) return; // a removal, which the sweep requests again
  const { checkId } = claimed.probe;
  await recordProbeRemoved(db, checkId); // it was never written
  const failure = failureOf(new Fault('unavailable', reason));
  await endCheck(db, checkId, stepsOf(new Map([['connect', failure]])));
}

async function check(
  worker: WorkerContext,
  { probe, milliseconds }: { probe: Probe; milliseconds: number },
): Promise<void> {
  const steps = await runCheck(worker, probe, milliseconds);
  await endCheck(worker.db, probe.checkId, steps);
  for (const left of await listLeftProbes(worker.db, probe.destination.id, maxLeft))
    if (left.checkId !== probe.checkId) await removeLeft(worker, left);
}

async function removeLeft(worker: WorkerContext, probe: Probe): Promise<void> {
  const { checkId, externalName, destination } = probe;
  const fields = { checkId, destinationId: destination.id, externalName };
  try {
    await new ProbeCalls(worker, probe).remove(performance.now() + removalMs);
    await recordLeftProbeRemoved(worker.db, checkId);
    worker.observe.log.info(fields, 'a probe that a check had left behind was removed');
  } catch (error) {
    const { message } = failureOf(error);
    worker.observe.log.warn(
      { ...fields, reason: message },
      'a probe of a check could not be removed; will be retried',
    );
  }
}
