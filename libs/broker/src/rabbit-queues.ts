import type { Channel, ConsumeMessage, Replies } from 'amqplib';
import { deliveryLimit } from './broker.ts';

export const parkedQueue = (queue: string): string => `${queue}.parked`;

/** Looking at parked messages counts as delivering them, and RabbitMQ 4 drops at 20 when nothing else is said. */
const parkedDeliveryLimit = 2_000_000_000;

/**
 * Declares a durable quorum queue and the one beside it for what is parked. `at-least-once` keeps a message in the
 * queue until its dead letter is confirmed, and asks for `reject-publish`
 * (https://www.rabbitmq.com/docs/quorum-queues#activating-at-least-once-dead-lettering).
 * Changing an argument makes RabbitMQ refuse the declaration of queues that exist: that takes a migration.
 */
export async function declareQueue(channel: Channel, queue: string): Promise<Replies.AssertQueue> {
  await declareParkedQueue(channel, queue);
  return await channel.assertQueue(queue, {
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      'x-delivery-limit': deliveryLimit,
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': parkedQueue(queue),
      'x-dead-letter-strategy': 'at-least-once',
      'x-overflow': 'reject-publish',
    },
  });
}

export async function declareParkedQueue(channel: Channel, queue: string): Promise<Replies.AssertQueue> {
  return await channel.assertQueue(parkedQueue(queue), {
    durable: true,
    arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': parkedDeliveryLimit },
  });
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
