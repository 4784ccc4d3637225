import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, isForeignKeyViolation } from '@secrets/db';
import {
  type FaultKind,
  type ListAnswer,
  type ListQuestion,
  type LookAnswer,
  type LookQuestion,
  notFound,
  Problem,
  type ReadFailure,
  type StoreAnswer,
} from '@secrets/domain';
import { giveBackBudget, useSpareBudget } from '@secrets/sync-entries';
import type { Context } from '../../context.ts';
import type { DestinationRow } from '../../queries/destinations/destinations.ts';
import { deleteStoreRead, findStoreRead, insertStoreRead } from '../../queries/destinations/store-reads.ts';
import { budgetSpent, requireCallable, stopped, whyStopped } from '../status/require-callable.ts';

/** Seconds that a request waits, by default. */
const defaultWaitSeconds = 20;
/** The worker has less time than the request waits, so that its answer arrives in time. */
const answerSeconds = 2;
const pollMs = 50;

/** Why there is no answer for a part of what was asked. */
export const noCalls = 'the account of this destination has no call to spare now; try again later';

/** A question, and the calls that it takes at most. */
interface Asked<Question> {
  calls: number;
  waitSeconds?: number;
  /** Returns what to ask with so many calls, of which there is at least one. */
  questionFor(calls: number): Question;
}

type AnswerTo<Question> = Question extends LookQuestion ? LookAnswer : ListAnswer;

/**
 * Has a worker read from the store of a destination, and waits for its answer. Throws as `requireCallable`; `rate_limited` if the
 * budget of the account has no call to spare, or the provider throttles it; `conflict` if the provider refuses the call;
 * `unavailable` if it does not respond, or no worker takes part.
 */
export async function askStore<Question extends ListQuestion | LookQuestion>(
  context: Context,
  destination: DestinationRow,
  asked: Asked<Question>,
): Promise<AnswerTo<Question>> {
  await requireCallable(context.db, destination);
  const read = await request(context, destination, asked);
  const answer = await waitForAnswer(context.db, read);
  const reason = await withdraw(context, destination, read);
  if (answer === undefined) throw reason;
  if ('failure' in answer) throw problemOf(answer.failure);
  return answer as AnswerTo<Question>;
}

/** A read that was requested, and the calls that it has taken from the budget. */
interface Requested {
  id: string;
  calls: number;
  waitSeconds: number;
}

async function request(
  context: Context,
  destination: DestinationRow,
  asked: Asked<ListQuestion | LookQuestion>,
): Promise<Requested> {
  const { db, queue } = context;
  const { id: destinationId, type: destinationType } = destination;
  const budget = queue.budgets[destinationType]!;
  const { waitSeconds = defaultWaitSeconds } = asked;
  const read = await db
    .transaction(async (tx) => {
      const calls = await useSpareBudget(tx, destinationId, asked.calls, budget);
      if (calls === 0) throw budgetSpent(1, budget.perSecond);
      const question = asked.questionFor(calls);
      const id = await insertStoreRead(tx, {
        destinationId,
        destinationType,
        question,
        seconds: waitSeconds - answerSeconds,
      });
      return { id, calls, waitSeconds };
    })
    .catch((error: unknown) => {
      throw isForeignKeyViolation(error) ? notFound() : error; // deleted in the meantime
    });
  const message = { check_id: read.id, destination_id: destinationId, store_read: true } as const;
  await queue.publish(destinationType, message).catch(async (error: unknown) => {
    await withdraw(context, destination, read);
    throw error;
  });
  return read;
}

async function waitForAnswer(db: Db, { id, waitSeconds }: Requested): Promise<StoreAnswer | undefined> {
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
  { id, calls, waitSeconds }: Requested,
): Promise<Problem> {
  const read = await deleteStoreRead(db, id);
  if (read === undefined) return notFound();
  if (read.isStarted) return new Problem('unavailable', `the worker did not answer within ${waitSeconds} s`);
  await giveBackBudget(db, destinationId, calls, queue.budgets[type]!);
  const because = await whyStopped(db);
  if (because !== null) return stopped(because);
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
