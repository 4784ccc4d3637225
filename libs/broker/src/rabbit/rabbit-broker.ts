import { Problem } from '@secrets/domain';
import type { Channel, ChannelModel } from 'amqplib';
import pTimeout from 'p-timeout';
import type { Broker, BrokerLog, Depth } from '../broker.ts';
import { RabbitConnection } from './rabbit-connection.ts';
import { RabbitConsumer } from './rabbit-consumer.ts';
import { peekDeadLetters, takeDeadLetters } from './rabbit-dead-letters.ts';
import { RabbitPublisher } from './rabbit-publisher.ts';
import { deadLetterQueue, onChannel, QueueDeclarer } from './rabbit-queues.ts';

export interface RabbitOptions {
  /**
   * `amqp://` or `amqps://`, with the file of the server's authority as `cacertfile` unless it is a public one. The heartbeat
   * interval is 15 s unless its query sets another.
   */
  url: string;
  log: BrokerLog;
  /** Prefix of every queue's name, for several installations on one virtual host. */
  queuePrefix?: string;
  /** Silence while connecting; default 10 s. */
  connectTimeoutMs?: number;
  /**
   * How long a publication waits for its confirms, including for a connection, and any other request for its answer;
   * default 10 s.
   */
  confirmTimeoutMs?: number;
  /** Default 10 minutes. RabbitMQ itself closes the channel after 30. */
  handlerTimeoutMs?: number;
  /** The pause before a message is delivered again for the first time; default 500 ms. */
  requeuePauseMs?: number;
  /** How often an idle consumer checks that the queue still knows it; default 30 s. */
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
 * Opens a broker on RabbitMQ (3.10 or newer). Returns at once and connects in the background; until then, publications
 * wait. `state()` reports the connection. Throws `invalid` if `url` is not an AMQP URL.
 *
 * Publishing and consuming use separate connections: during an alarm, RabbitMQ stops reading from connections that publish,
 * and acknowledgements must not be blocked by that (https://www.rabbitmq.com/docs/alarms).
 */
export function openRabbit(given: RabbitOptions): Broker {
  const options = { ...defaults, ...given };
  const link = (purpose: string) => new RabbitConnection({ ...options, purpose });
  const publishing = link('publish');
  const consuming = link('consume');
  const queues = new QueueDeclarer();
  const publisher = new RabbitPublisher(publishing, queues, options);
  const consumers: RabbitConsumer[] = [];
  const named = (queue: string) => options.queuePrefix + queue;
  /** Declares the queue if necessary, and queries it on a channel of its own. */
  const inspect = <T>(queue: string, query: (channel: Channel, queue: string) => Promise<T>) =>
    withConnection(consuming, options.confirmTimeoutMs, async (connection) => {
      await queues.ensure(connection, named(queue));
      return await onChannel(connection, (channel) => query(channel, named(queue)));
    });

  return {
    publish: (queue, messages, options) => publisher.publish(named(queue), messages, options),
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
    depth: (queue) => inspect(queue, depthOf),
    deadLetterDepth: (queue) =>
      inspect(queue, async (channel, name) => (await channel.checkQueue(deadLetterQueue(name))).messageCount),
    deadLetters: (queue, limit) => inspect(queue, (channel, name) => peekDeadLetters(channel, name, limit)),
    resendDeadLetters: (queue, selection) =>
      inspect(queue, (channel, name) =>
        takeDeadLetters(channel, name, selection, (texts) => publisher.publishTexts(name, texts)),
      ),
    discardDeadLetters: (queue, selection) =>
      inspect(queue, (channel, name) => takeDeadLetters(channel, name, selection)),
    state: () => (publishing.isConnected() && consuming.isConnected() ? 'connected' : 'reconnecting'),
    close: async () => {
      await Promise.all(consumers.map((consumer) => consumer.stop()));
      await publisher.drain();
      await Promise.all([publishing.close(), consuming.close()]);
    },
  };
}

async function withConnection<T>(
  link: RabbitConnection,
  timeoutMs: number,
  query: (connection: ChannelModel) => Promise<T>,
): Promise<T> {
  const waiting = new AbortController();
  const answer = async () => query(await link.connection(waiting.signal));
  try {
    return await pTimeout(answer(), { milliseconds: timeoutMs });
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw new Problem('unavailable', 'the broker did not answer', { cause });
  } finally {
    waiting.abort(); // stops waiting for a connection
  }
}

async function depthOf(channel: Channel, queue: string): Promise<Depth> {
  const { messageCount, consumerCount } = await channel.checkQueue(queue);
  return { ready: messageCount, consumers: consumerCount };
}
