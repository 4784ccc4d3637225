import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import pTimeout from 'p-timeout';
import { deliveryLimit } from '../broker.ts';

export const deadLetterQueue = (queue: string): string => `${queue}.parked`;

/** Inspecting dead letters counts as delivering them, and RabbitMQ 4 drops messages after 20 deliveries by default. */
const deadLetterDeliveryLimit = 2_000_000_000;

/** A queue as RabbitMQ expects it, in a declaration or an import of definitions. */
export interface QueueDefinition {
  name: string;
  durable: true;
  arguments: Record<string, string | number>;
}

/**
 * Returns a durable quorum queue, preceded by its dead-letter queue. `at-least-once` keeps a message in the queue until its
 * dead letter is confirmed, and requires `reject-publish`
 * (https://www.rabbitmq.com/docs/quorum-queues#activating-at-least-once-dead-lettering).
 * Changing an argument does not change existing queues; that requires a migration.
 */
export const queueDefinitions = (queue: string): QueueDefinition[] => [
  {
    name: deadLetterQueue(queue),
    durable: true,
    arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': deadLetterDeliveryLimit },
  },
  {
    name: queue,
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      'x-delivery-limit': deliveryLimit,
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': deadLetterQueue(queue),
      'x-dead-letter-strategy': 'at-least-once',
      'x-overflow': 'reject-publish',
    },
  },
];

const declareTimeoutMs = 5_000;

/** https://www.rabbitmq.com/amqp-0-9-1-reference#constants */
const accessRefused = 403;

/**
 * Declares queues. RabbitMQ creates missing ones, and refuses a declaration that differs from an existing queue. A user
 * without the right to declare can use queues that somebody else declared: after the first refusal, queues are only checked.
 */
export class QueueDeclarer {
  readonly #inProgress = new Map<string, Promise<void>>();
  #mayDeclare = true;

  /**
   * Declares a queue and its dead-letter queue. Throws if they exist with other arguments, or are missing and this user may not
   * declare them. Concurrent calls share one declaration: RabbitMQ 3.10 answers the second one before the queue has started, and
   * then closes the connection of whoever consumes it.
   */
  async ensure(connection: ChannelModel, queue: string): Promise<void> {
    const ensuring = this.#inProgress.get(queue) ?? answered(this.#declareOrCheck(connection, queue));
    this.#inProgress.set(queue, ensuring);
    try {
      await ensuring;
    } finally {
      if (this.#inProgress.get(queue) === ensuring) this.#inProgress.delete(queue);
    }
  }

  async #declareOrCheck(connection: ChannelModel, queue: string): Promise<void> {
    const definitions = queueDefinitions(queue);
    if (this.#mayDeclare && (await declared(connection, definitions))) return;
    this.#mayDeclare = false;
    try {
      await onChannel(connection, async (channel) => {
        for (const { name } of definitions) await channel.checkQueue(name);
      });
    } catch (error) {
      this.#mayDeclare = true; // the right may have been granted by then
      throw error;
    }
  }
}

/**
 * Rejects if RabbitMQ does not answer in time: while it starts, a declaration may block forever, and others must not share that
 * wait.
 */
const answered = (declaring: Promise<void>): Promise<void> =>
  pTimeout(declaring, {
    milliseconds: declareTimeoutMs,
    message: 'the broker did not declare the queue in time',
  });

/** Returns false if the user has no right to declare queues. */
async function declared(connection: ChannelModel, definitions: readonly QueueDefinition[]): Promise<boolean> {
  try {
    await onChannel(connection, async (channel) => {
      for (const { name, ...options } of definitions) await channel.assertQueue(name, options);
    });
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === accessRefused) return false;
    throw error;
  }
}

/** Runs `work` on a channel of its own, so that a failure closes no other channel. */
export async function onChannel<T>(
  connection: ChannelModel,
  work: (channel: Channel) => Promise<T>,
): Promise<T> {
  const channel = await connection.createChannel();
  channel.on('error', () => undefined); // `work` rejects with the same error
  try {
    return await work(channel);
  } finally {
    await closeChannel(channel);
  }
}

/**
 * Closes a channel, unless a failure has closed it already. Resolves also when the connection is lost: `close()` alone never
 * would.
 */
export async function closeChannel(channel: Channel): Promise<void> {
  const closed = new Promise<void>((resolve) => channel.once('close', () => resolve()));
  await Promise.race([closed, channel.close().catch(() => undefined)]);
}

export function traceparentOf({ properties }: ConsumeMessage): string | undefined {
  const traceparent: unknown = properties.headers?.traceparent;
  return typeof traceparent === 'string' ? traceparent : undefined;
}

/**
 * Returns how often a message was delivered, including this time. Quorum queues count returns in `x-delivery-count`; newer
 * versions omit some returns there, and count every delivery in `x-acquired-count`.
 */
export function deliveriesOf(message: ConsumeMessage): number {
  const headers = message.properties.headers ?? {};
  const before = ['x-delivery-count', 'x-acquired-count'].map((name) => Number(headers[name] ?? 0) || 0);
  return Math.max(...before) + 1;
}
