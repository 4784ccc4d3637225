import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '@secrets/caller';
import { type Db, rethrowViolation, type Sql } from '@secrets/db';
import { findDescription } from '@secrets/destinations';
import { type CheckStep, notFound, Problem } from '@secrets/domain';
import { giveBackBudget, liftPause, useBudget } from '@secrets/sync-entries';
import type { Context } from '../../context.ts';
import {
  type CheckProgress,
  deleteUnstartedCheck,
  endOverdueCheck,
  findCheckProgress,
  insertCheck,
} from '../../queries/destinations/destination-checks.ts';
import type { DestinationRow } from '../../queries/destinations/destinations.ts';
import { type DestinationRef, requireDestination } from '../require-destination.ts';
import { budgetSpent, requireCallable, stopped, whyStopped } from '../status/require-callable.ts';

/** Seconds that a request waits. The worker has a little less, so that its outcome arrives in time. */
const waitSeconds = 20;
const checkSeconds = 18;
const pollMs = 100;

/** A check creates, changes and removes its probe. */
const writes = 3;

/**
 * Has a worker try the credentials and permissions of a destination with a probe, an external secret with a random
 * value that is removed again (docs/conventions/sync-operation.md#check-and-plan). Returns its steps. If all of them
 * succeeded, the pause of the destination ends. Throws `not_found` if the destination does not exist, `conflict` while
 * it is being purged, syncing is disabled or held, or another check of it runs, `rate_limited` while its account is throttled,
 * `unavailable` if no worker of the type takes part.
 */
export async function checkDestination(
  context: Context,
  caller: Caller,
  ref: DestinationRef,
): Promise<CheckStep[]> {
  const { db } = context;
  const destination = await requireDestination(context, caller, ref);
  await requireCallable(db, destination); // the probe of one that is being purged could be left behind
  const checkId = await recordCheck(context, destination);
  const message = { check_id: checkId, destination_id: destination.id };
  await context.queue.publish(destination.type, message).catch(async (error: unknown) => {
    await withdraw(db, destination, checkId);
    throw error;
  });
  const steps = await waitForSteps(db, destination, checkId);
  if (steps.every(({ result }) => result === 'ok')) {
    await db.transaction((tx) => liftPause(tx, destination.id));
    context.queue.notify();
  }
  if (steps.some(({ step, result }) => step === 'connect' && result === 'failed'))
    await giveBackWrites(db, destination); // connecting calls nothing
  return steps;
}

/** The name of the probe is recorded before it exists, so that any worker can remove it. */
function recordCheck(
  { db, prefix }: Context,
  { id: destinationId, type: destinationType }: DestinationRow,
): Promise<string> {
  const { nameRule, budget } = findDescription(destinationType);
  const externalName = nameRule.normalise(`${prefix}-check-${randomBytes(6).toString('hex')}`);
  return db
    .transaction(async (tx) => {
      await endOverdueCheck(tx, destinationId);
      if (!(await useBudget(tx, destinationId, writes, budget))) throw budgetSpent(writes, budget.perSecond);
      return insertCheck(tx, { destinationId, destinationType, externalName, seconds: checkSeconds });
    })
    .catch(rethrowViolation('another check of this destination is running'));
}

const giveBackWrites = (sql: Sql, { id, type }: DestinationRow): Promise<void> =>
  giveBackBudget(sql, id, writes, findDescription(type).budget);

const withdraw = (db: Db, destination: DestinationRow, checkId: string): Promise<void> =>
  db.transaction(async (tx) => {
    if (await deleteUnstartedCheck(tx, checkId)) await giveBackWrites(tx, destination);
  });

async function waitForSteps(db: Db, destination: DestinationRow, checkId: string): Promise<CheckStep[]> {
  const untilMs = performance.now() + waitSeconds * 1_000;
  let progress: CheckProgress | undefined;
  do {
    await sleep(pollMs);
    progress = await findCheckProgress(db, checkId);
    if (progress === undefined) throw notFound();
    if (progress.isEnded && progress.steps.length > 0) return progress.steps;
    if (!progress.isStarted && (progress.isEnded || progress.isDeleted)) break; // no worker may begin it
    if (!progress.isStarted && (await whyStopped(db)) !== null) break; // workers have stopped taking messages
  } while (performance.now() < untilMs);
  if (progress.isStarted)
    throw new Problem('unavailable', `the worker did not finish the check within ${waitSeconds} s`);
  await withdraw(db, destination, checkId);
  if (progress.isDeleted) throw notFound();
  const isOverdue = performance.now() > untilMs - (waitSeconds - checkSeconds) * 1_000;
  const because = await whyStopped(db);
  if ((progress.isEnded && !isOverdue) || because !== null) throw stopped(because); // perhaps only when a worker looked
  throw new Problem(
    'unavailable',
    `no worker of type ${destination.type} has begun the check within ${waitSeconds} s`,
  );
}
