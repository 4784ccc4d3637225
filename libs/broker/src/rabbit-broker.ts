import { Problem } from '@secrets/domain';
import type { Channel, ChannelModel } from 'amqplib';
import type { Broker, BrokerLog, DeadLetter, Depth } from './broker.ts';
import { RabbitConsumer } from './rabbit-consumer.ts';
import { RabbitLink, type RabbitTls } from './rabbit-link.ts';
import { RabbitPublisher } from './rabbit-publisher.ts';
import { deadLetterQueue, onChannel, QueueMaker } from './rabbit-queues.ts';
import { withTimeout } from './with-timeout.ts';

export interface RabbitOptions {
  /** `amqp://` or `amqps://`; heartbeats every 15 s unless its query says otherwise. */
  url: string;
  log: BrokerLog;
  tls?: RabbitTls;
  /** Begins every queue's name, for several installations on one virtual host. */
  queuePrefix?: string;
  /** Of silence while connecting; default 10 s. */
  connectTimeoutMs?: number;
  /** How long a publication waits for the broker, also for one that is away; default 10 s. */
  confirmTimeoutMs?: number;
  /** Default 10 minutes; RabbitMQ itself closes the channel after 30. */
  handlerTimeoutMs?: number;
  /** How long a message that is to be delivered again is held back; default 500 ms. */
  requeuePauseMs?: number;
  /** How often an idle consumer asks whether the queue still knows it; default 30 s. */
  watchIntervalMs?: number;
}

const defaults = {
  queuePrefix: '',
  connectTimeoutMs: 10_000,
  confirmTimeoutMs: 10_000,
  handlerTimeoutMs: 600_000,
  requeuePauseMs: 500,
  watchIntervalMs: 30_000,
};

/**
 * A broker on RabbitMQ (3.10 or newer). Gives it back at once and connects in the background: `state()` tells how that
 * stands, and publications wait. Throws `invalid` for an address that is none.
 *
 * Publishing and consuming have a connection each: RabbitMQ stops reading from one that publishes while an alarm is
 * on, and acknowledgements must not wait behind that (https://www.rabbitmq.com/docs/alarms).
 */
export function openRabbit(given: RabbitOptions): Broker {
  const options = { ...defaults, ...given };
  const link = (purpose: string) => new RabbitLink({ ...options, tls: options.tls, purpose });
  const publishing = link('publish');
  const consuming = link('consume');
  const queues = new QueueMaker();
  const publisher = new RabbitPublisher(publishing, queues, options);
  const consumers: RabbitConsumer[] = [];
  const named = (queue: string) => options.queuePrefix + queue;
  /** Asks on a channel of its own, of a queue that is there or made. */
  const ask = <T>(queue: string, question: (channel: Channel, queue: string) => Promise<T>) =>
    askOnce(consuming, options.confirmTimeoutMs, async (connection) => {
      await queues.ensure(connection, named(queue));
      return await onChannel(connection, (channel) => question(channel, named(queue)));
    });

  return {
    publish: (queue, messages) => publisher.publish(named(queue), messages),
    consume: async (queue, { concurrency }, handler) => {
      const consumer = new RabbitConsumer(consuming, queues, {
        ...options,
        queue: named(queue),
        concurrency,
        handler,
      });
      consumers.push(consumer);
      return consumer;
    },
    depth: (queue) => ask(queue, depthOf),
    deadLetterDepth: (queue) =>
      ask(queue, async (channel, name) => (await channel.checkQueue(deadLetterQueue(name))).messageCount),
    deadLetters: (queue, limit) => ask(queue, (channel, name) => peek(channel, name, limit)),
    state: () => (publishing.isConnected() && consuming.isConnected() ? 'connected' : 'reconnecting'),
    close: async () => {
      await Promise.all(consumers.map((consumer) => consumer.stop()));
      await publisher.drain();
      await Promise.all([publishing.close(), consuming.close()]);
    },
  };
}

async function askOnce<T>(
  link: RabbitLink,
  timeoutMs: number,
  question: (connection: ChannelModel) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController();
  const asking = async () => question(await link.connection(timeout.signal));
  try {
    return await withTimeout(timeoutMs, asking(), 'the broker did not answer in time');
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw new Problem('unavailable', 'the broker could not be asked', { cause });
  } finally {
    timeout.abort();
  }
}

async function depthOf(channel: Channel, queue: string): Promise<Depth> {
  const { messageCount, consumerCount } = await channel.checkQueue(queue);
  return { ready: messageCount, consumers: consumerCount };
}

/** Takes without acknowledging: closing the channel puts the messages back. */
async function peek(channel: Channel, queue: string, limit: number): Promise<DeadLetter[]> {
  const seen: DeadLetter[] = [];
  while (seen.length < limit) {
    const message = await channel.get(deadLetterQueue(queue));
    if (message === false) break;
    const messageId = String(message.properties.messageId ?? '');
    seen.push({ messageId, text: message.content.toString('utf8') });
  }
  return seen;
}
