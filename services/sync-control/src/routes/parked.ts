import type { Caller } from '@secrets/caller';
import { requireAdministrative } from '@secrets/caller';
import { destinationTypes } from '@secrets/destinations';
import { notFound, secretChangesQueue, stringList, syncQueue } from '@secrets/domain';
import { type Endpoint, endpoint, pageQuery } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';

/** How many dead letters of a queue, roughly the oldest first, are shown, sent again or discarded by one request. */
const maxMessages = 1_000;

/** A message that cannot be parsed may have any length. */
const maxShownBody = 1_000;

const queues: readonly string[] = [secretChangesQueue, ...Object.keys(destinationTypes).map(syncQueue)];

const QueueParams = z.object({ queue: z.string() });

/** Which dead letters; all if absent. */
const Selection = z.object({
  message_ids: stringList
    .refine((ids) => ids.length > 0 && ids.length <= maxMessages, {
      error: `must have between 1 and ${maxMessages} items`,
    })
    .meta({
      type: 'array',
      minItems: 1,
      maxItems: maxMessages,
      items: { type: 'string', pattern: '^[A-Za-z0-9_.-]+$' },
    })
    .optional(),
});

const listPath = '/sys/sync/parked';
const path = `${listPath}/:queue`;

/** `sys/sync/parked`: dead letters of the queues (docs/conventions.md#522-operators-view). */
export const parkedEndpoints = (context: Context): Endpoint[] => [
  listParked(context),
  readParked(context),
  resendParked(context),
  discardParked(context),
];

const listParked = (context: Context) =>
  endpoint({
    method: 'list',
    path: listPath,
    summary: 'List the queues with the number of their dead letters',
    handle: async ({ caller, warn }) => {
      requireAdministrative(caller);
      const counts = await countOfEach(context, warn);
      return {
        data: {
          keys: queues,
          key_info: Object.fromEntries(queues.map((queue, index) => [queue, { messages: counts[index] }])),
        },
      };
    },
  });

const readParked = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read dead letters of a queue, roughly the oldest first',
    params: QueueParams,
    query: pageQuery({ max: maxMessages }).pick({ limit: true }),
    handle: async ({ params, query, caller }) => {
      const { deadLetters } = context.queue;
      const queue = requireQueue(caller, params);
      const total = await deadLetters.deadLetterDepth(queue); // before they are read, which hides them for a moment
      const letters = await deadLetters.deadLetters(queue, query.limit);
      return {
        data: {
          queue,
          messages: letters.map(({ messageId, text }) => ({
            message_id: messageId,
            body: text.slice(0, maxShownBody),
          })),
          total_messages: total,
        },
      };
    },
  });

const resendParked = (context: Context) =>
  endpoint({
    method: 'post',
    path: `${path}/resend`,
    summary: 'Send dead letters of a queue again',
    params: QueueParams,
    body: Selection,
    handle: async ({ params, body, caller }) => {
      const queue = requireQueue(caller, params);
      const selection = { messageIds: body.message_ids, limit: maxMessages };
      return { data: { resent: await context.queue.deadLetters.resendDeadLetters(queue, selection) } };
    },
  });

const discardParked = (context: Context) =>
  endpoint({
    method: 'post',
    path: `${path}/discard`,
    summary: 'Discard dead letters of a queue',
    params: QueueParams,
    body: Selection,
    handle: async ({ params, body, caller }) => {
      const queue = requireQueue(caller, params);
      const selection = { messageIds: body.message_ids, limit: maxMessages };
      return { data: { discarded: await context.queue.deadLetters.discardDeadLetters(queue, selection) } };
    },
  });

/** Returns the name of a queue. Throws `not_found` if it does not exist, or outside of the root and the administrative namespace. */
function requireQueue(caller: Caller, { queue }: z.infer<typeof QueueParams>): string {
  requireAdministrative(caller);
  if (!queues.includes(queue)) throw notFound();
  return queue;
}

/** Returns the number of dead letters of each queue; null for one that cannot be reached, unless none can. */
async function countOfEach({ queue }: Context, warn: (sentence: string) => void): Promise<(number | null)[]> {
  const counts = await Promise.allSettled(queues.map((name) => queue.deadLetters.deadLetterDepth(name)));
  const failed = counts.flatMap((count, index) => (count.status === 'rejected' ? [queues[index]] : []));
  if (failed.length === queues.length) await queue.deadLetters.deadLetterDepth(queues[0]!);
  for (const name of failed) warn(`the queue ${name} cannot be reached`);
  return counts.map((count) => (count.status === 'fulfilled' ? count.value : null));
}
