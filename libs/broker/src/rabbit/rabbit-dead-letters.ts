import type { Channel, GetMessage } from 'amqplib';
import type { DeadLetter, DeadLetterSelection } from '../broker.ts';
import { deadLetterQueue } from './rabbit-queues.ts';

/**
 * Returns the first dead letters of a queue, and leaves them there: RabbitMQ requeues what was not acknowledged when the
 * channel closes.
 */
export async function peekDeadLetters(channel: Channel, queue: string, limit: number): Promise<DeadLetter[]> {
  const got = await getDeadLetters(channel, queue, limit);
  return got.map((message) => ({ messageId: messageIdOf(message), text: textOf(message) }));
}

/**
 * Removes dead letters of a queue once `before` has resolved with their texts; returns how many. Leaves the others there:
 * RabbitMQ requeues them when the channel closes.
 */
export async function takeDeadLetters(
  channel: Channel,
  queue: string,
  { messageIds, limit }: DeadLetterSelection,
  before: (texts: readonly string[]) => Promise<void> = async () => undefined,
): Promise<number> {
  const got = await getDeadLetters(channel, queue, limit);
  const taken = got.filter((message) => messageIds?.includes(messageIdOf(message)) ?? true);
  await before(taken.map(textOf));
  for (const message of taken) channel.ack(message);
  return taken.length;
}

async function getDeadLetters(channel: Channel, queue: string, limit: number): Promise<GetMessage[]> {
  const got: GetMessage[] = [];
  while (got.length < limit) {
    const message = await channel.get(deadLetterQueue(queue));
    if (message === false) break;
    got.push(message);
  }
  return got;
}

const messageIdOf = ({ properties }: GetMessage): string => String(properties.messageId ?? '');

const textOf = ({ content }: GetMessage): string => content.toString('utf8');
