import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import { deliveryLimit } from './broker.ts';

export const deadLetterQueue = (queue: string): string => `${queue}.parked`;

/** Inspecting dead letters counts as delivering them, and RabbitMQ 4 drops at 20 when nothing else is said. */
const deadLetterDeliveryLimit = 2_000_000_000;

/** A queue as RabbitMQ is told of it: by whoever declares it, or in an import of definitions. */
export interface QueueDefinition {
  name: string;
  durable: true;
  arguments: Record<string, string | number>;
}

/**
 * A durable quorum queue, after its dead-letter queue. `at-least-once` keeps a message in the
 * queue until its dead letter is confirmed, and asks for `reject-publish`
 * (https://www.rabbitmq.com/docs/quorum-queues#activating-at-least-once-dead-lettering).
 * Changing an argument changes no queue that exists: that takes a migration.
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

/** https://www.rabbitmq.com/amqp-0-9-1-reference#constants */
const accessRefused = 403;

/**
 * Makes queues that are missing; of those that are there RabbitMQ compares the arguments, and refuses others. A user for
 * whom somebody else makes the queues need have no right to declare any: that is asked once, and then they are looked for.
 */
export class QueueMaker {
  #mayDeclare = true;

  /** Makes a queue and the one beside it. Throws when they are otherwise, or missing and not to be made by this user. */
  async ensure(connection: ChannelModel, queue: string): Promise<void> {
    const definitions = queueDefinitions(queue);
    if (this.#mayDeclare && (await declared(connection, definitions))) return;
    this.#mayDeclare = false;
    try {
      await onChannel(connection, async (channel) => {
        for (const { name } of definitions) await channel.checkQueue(name);
      });
    } catch (error) {
      this.#mayDeclare = true; // perhaps by now
      throw error;
    }
  }
}

/** False when the user has no right to. */
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

/** Works on a channel of its own, whose failure then concerns nobody else. */
export async function onChannel<T>(
  connection: ChannelModel,
  work: (channel: Channel) => Promise<T>,
): Promise<T> {
  const channel = await connection.createChannel();
  channel.on('error', () => undefined); // the work rejects with the same error
  try {
    return await work(channel);
  } finally {
    await channel.close().catch(() => undefined); // it closed by its failure
  }
}

/**
 * How often a message was delivered, this time included. Quorum queues count returns in `x-delivery-count`; newer
 * versions leave some of them out there and count every delivery in `x-acquired-count`.
 */
export function deliveriesOf(message: ConsumeMessage): number {
  const headers = message.properties.headers ?? {};
  const before = ['x-delivery-count', 'x-acquired-count'].map((name) => Number(headers[name] ?? 0) || 0);
  return Math.max(...before) + 1;
}
