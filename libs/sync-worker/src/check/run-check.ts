import { setTimeout as sleep } from 'node:timers/promises';
import { findDescription } from '@secrets/destinations';
import { type CheckStep, syncLogFields } from '@secrets/domain';
import { type Probe, recordProbeRemoved } from '@secrets/sync-entries';
import { type Failure, failureOf } from '../entry/record-failure.ts';
import type { WorkerContext } from '../entry/worker-context.ts';
import { ProbeCalls } from './probe-calls.ts';

type StepName = CheckStep['step'];

/** The share of the time of a check that is left to remove the probe. */
const removalShare = 0.3;

/**
 * Tries the credentials and permissions of a destination: creates a probe, changes it and removes it. `milliseconds` is the time
 * for all steps together. The probe is removed whatever fails. It counts as left behind if the removal fails, or if a put with an
 * unknown outcome may still write it.
 */
export async function runCheck(
  worker: WorkerContext,
  probe: Probe,
  milliseconds: number,
): Promise<CheckStep[]> {
  const startedMs = performance.now();
  const writesEndMs = startedMs + milliseconds * (1 - removalShare);
  const calls = new ProbeCalls(worker, probe);
  const { perSecond } = findDescription(probe.destination.type).budget;
  const pause = () => sleep(1_000 / perSecond);
  const failures = new Map<StepName, Failure | undefined>();
  const attempt = async (step: StepName, work: () => Promise<void>): Promise<boolean> => {
    failures.set(step, await work().then(() => undefined, failureOf));
    const failure = failures.get(step);
    if (failure !== undefined) await reportFailure(worker, probe, step, failure);
    return failure === undefined;
  };
  if (!(await attempt('connect', () => calls.connect(writesEndMs)))) {
    await recordProbeRemoved(worker.db, probe.checkId); // it was never written
    return stepsOf(failures);
  }
  if (await attempt('create', () => calls.put(writesEndMs))) {
    await pause();
    await attempt('change', () => calls.put(writesEndMs));
  }
  await pause();
  const isForeign = failures.get('create')?.kind === 'conflict';
  const isRemoved = isForeign || (await attempt('remove', () => calls.remove(startedMs + milliseconds)));
  const isGone = isRemoved || neverGotIn(failures);
  if (isGone && !calls.mayArriveLate) await recordProbeRemoved(worker.db, probe.checkId);
  return stepsOf(failures);
}

/**
 * Reports a failed step. Only throttling is reported to the lane, because it affects the account; other faults are only shown.
 */
async function reportFailure(
  { limits: { lanes }, observe: { log } }: WorkerContext,
  { checkId, laneId, destination }: Probe,
  step: StepName,
  { kind, message, retryAfterSeconds, error }: Failure,
): Promise<void> {
  const fields = { checkId, ...syncLogFields({ destination }), step, fault: kind };
  if (kind === 'crashed') log.error({ ...fields, error }, 'a check failed unexpectedly');
  else log.info({ ...fields, reason: message }, 'a step of a check failed');
  if (kind === 'throttled')
    await lanes.failed(
      { laneId, destinationId: destination.id, startedAtMs: performance.now() },
      { fault: kind, retryAfterSeconds },
    );
}

const stepNames: readonly StepName[] = ['connect', 'create', 'change', 'remove'];

/** Returns the result of every step. `failures` has the steps that were tried; undefined means success. */
export const stepsOf = (failures: ReadonlyMap<StepName, Failure | undefined>): CheckStep[] =>
  stepNames.map((step): CheckStep => {
    if (!failures.has(step)) return { step, result: 'not_checked', fault: null, message: null };
    const failure = failures.get(step);
    if (failure === undefined) return { step, result: 'ok', fault: null, message: null };
    const { kind, message } = failure;
    return { step, result: 'failed', fault: kind === 'crashed' ? null : kind, message };
  });

/** The credentials were refused from the first call to the last, so there is no probe to be removed. */
const neverGotIn = (failures: ReadonlyMap<StepName, Failure | undefined>): boolean =>
  (['create', 'remove'] as const).every((step) => failures.get(step)?.kind === 'unauthenticated');
