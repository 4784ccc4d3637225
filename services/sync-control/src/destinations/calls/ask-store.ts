import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, isForeignKeyViolation } from '@secrets/db';
import {
  type FaultKind,
  notFound,
  Problem,
  type ReadFailure,
  type StoreAnswer,
  type StoreQuestion,
} from '@secrets/domain';
import { giveBackBudget, useSpareBudget } from '@secrets/sync-entries';
import type { Context } from '../../context.ts';
import type { DestinationRow } from '../../queries/destinations/destinations.ts';
import { deleteStoreRead, findStoreRead, insertStoreRead } from '../../queries/destinations/store-reads.ts';
import { budgetSpent, disabled, isDisabled, requireCallable } from '../status/require-callable.ts';

/** Seconds that a request waits. The worker has a little less, so that its answer arrives in time. */
const waitSeconds = 20;
const readSeconds = 18;
const pollMs = 50;

type Found = Exclude<StoreAnswer, { failure: unknown }>;

/**
 * Has a worker read from the store of a destination, and waits for its answer. Throws as `requireCallable`; `rate_limited` if the
 * budget of the account has no call to spare, or the provider throttles it; `conflict` if the provider refuses the call;
 * `unavailable` if it does not respond, or no worker takes part.
 */
export async function askStore(
  context: Context,
  destination: DestinationRow,
  question: StoreQuestion,
): Promise<Found> {
  await requireCallable(context.db, destination);
  const id = await request(context, destination, question);
  const answer = await waitForAnswer(context.db, id);
  const reason = await withdraw(context, destination, id);
  if (answer === undefined) throw reason;
  if ('failure' in answer) throw problemOf(answer.failure);
  return answer;
}

async function request(
  context: Context,
  destination: DestinationRow,
  question: StoreQuestion,
): Promise<string> {
  const { db, queue } = context;
  const { id: destinationId, type: destinationType } = destination;
  const budget = queue.budgets[destinationType]!;
  const id = await db
    .transaction(async (tx) => {
      if ((await useSpareBudget(tx, destinationId, 1, budget)) === 0) throw budgetSpent(1, budget.perSecond);
      return insertStoreRead(tx, { destinationId, destinationType, question, seconds: readSeconds });
    })
    .catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? notFound() : error; // deleted in the meantime
    });
  const message = { check_id: id, destination_id: destinationId, store_read: true } as const;
  await queue.publish(destinationType, message).catch(async (error: unknown) => {
    await withdraw(context, destination, id);
    throw error;
  });
  return id;
}

async function waitForAnswer(db: Db, id: string): Promise<StoreAnswer | undefined> {
  const untilMs = performance.now() + waitSeconds * 1_000;
  while (performance.now() < untilMs) {
    const read = await findStoreRead(db, id);
    if (read === undefined || read.isBlocked || read.answer !== undefined) return read?.answer;
    await sleep(pollMs);
  }
  return undefined;
}

/** Deletes a read, and returns why it has no answer, if it has none. */
async function withdraw(
  { db, queue }: Context,
  { id: destinationId, type }: DestinationRow,
  id: string,
): Promise<Problem> {
  const read = await deleteStoreRead(db, id);
  if (read === undefined) return notFound();
  if (read.isStarted) return new Problem('unavailable', `the worker did not answer within ${waitSeconds} s`);
  await giveBackBudget(db, destinationId, 1, queue.budgets[type]!);
  if (await isDisabled(db)) return disabled();
  const waited = `no worker of type ${type} has begun to read the store within ${waitSeconds} s`;
  return new Problem('unavailable', waited);
}

/** The others are conflicts: their cause is in the settings of the destination, or in what the provider permits. */
const kindOf: Partial<Record<FaultKind, Problem['kind']>> = {
  throttled: 'rate_limited',
  unavailable: 'unavailable',
  not_ready: 'unavailable',
};

function problemOf({ fault, message, retryAfterSeconds }: ReadFailure): Problem {
  const sentence = `the store could not be read (${fault ?? 'internal error'}): ${message}`;
  const kind = fault === null ? 'bad_gateway' : (kindOf[fault] ?? 'conflict');
  return new Problem(kind, sentence, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
}
