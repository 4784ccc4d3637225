import { destinationTypes } from '@secrets/destinations';
import { notFound, secretChangesQueue, stringList, syncQueue } from '@secrets/domain';
import { type Endpoint, endpoint, pageQuery } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';

/** Maximum number of dead letters, roughly the oldest of a queue, that one request shows, sends again or discards. */
const maxMessages = 1_000;

/** A message that cannot be parsed may have any length. */
const maxShownBody = 1_000;

const queues: readonly string[] = [secretChangesQueue, ...Object.keys(destinationTypes).map(syncQueue)];

const QueueParams = z.object({ queue: z.string() });

/** Selects dead letters by ID; all if absent. */
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

/** `sys/sync/parked`: dead letters of the queues (docs/conventions/sync-operation.md#operators-view). */
export const parkedEndpoints = (context: Context): Endpoint[] => [
  listParked(context),
  readParked(context),
  changeParked(context, 'resend'),
  changeParked(context, 'discard'),
];

const listParked = (context: Context) =>
  endpoint({
    method: 'list',
    path: listPath,
    summary: 'List the queues with the number of their dead letters',
    access: { isAdministrative: true },
    handle: async ({ warn }) => {
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
    access: { isAdministrative: true },
    params: QueueParams,
    query: pageQuery({ max: maxMessages }).pick({ limit: true }),
    handle: async ({ params, query }) => {
      const { deadLetters } = context.queue;
      const queue = requireQueue(params);
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

/** Actions on the dead letters of a queue, by the last segment of their path. */
const actions = {
  resend: { summary: 'Send dead letters of a queue again', method: 'resendDeadLetters', done: 'resent' },
  discard: { summary: 'Discard dead letters of a queue', method: 'discardDeadLetters', done: 'discarded' },
} as const;

const changeParked = (context: Context, action: keyof typeof actions) =>
  endpoint({
    method: 'post',
    path: `${path}/${action}`,
    summary: actions[action].summary,
    access: { isAdministrative: true },
    params: QueueParams,
    body: Selection,
    handle: async ({ params, body }) => {
      const queue = requireQueue(params);
      const selection = { messageIds: body.message_ids, limit: maxMessages };
      const { method, done } = actions[action];
      return { data: { [done]: await context.queue.deadLetters[method](queue, selection) } };
    },
  });

/** Returns the name of a queue. Throws `not_found` if it does not exist. */
function requireQueue({ queue }: z.infer<typeof QueueParams>): string {
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
