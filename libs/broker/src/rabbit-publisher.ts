import { randomUUID } from 'node:crypto';
import { type Json, Problem } from '@secrets/domain';
import type { ChannelModel, ConfirmChannel } from 'amqplib';
import type { BrokerLog } from './broker.ts';
import { sleep } from './pause.ts';
import { type RabbitLink, reasonOf } from './rabbit-link.ts';
import type { QueueMaker } from './rabbit-queues.ts';
import { withTimeout } from './with-timeout.ts';

export interface RabbitPublisherOptions {
  confirmTimeoutMs: number;
  log: BrokerLog;
}

/** A confirm channel with what is known of it. */
interface PublisherChannel {
  connection: ChannelModel;
  channel: ConfirmChannel;
  /** Queues that are there. */
  ensured: Map<string, Promise<void>>;
  /** Messages that RabbitMQ sent back because their queue is gone. */
  returned: Set<string>;
}

/** How many messages wait for their confirms at once. */
const windowSize = 500;
const againMs = 100;

/** Publishes with confirms on one channel, opened again after each loss. */
export class RabbitPublisher {
  readonly #link: RabbitLink;
  readonly #queues: QueueMaker;
  readonly #options: RabbitPublisherOptions;
  readonly #underWay = new Set<Promise<void>>();
  #publisherChannel: Promise<PublisherChannel> | undefined;

  constructor(link: RabbitLink, queues: QueueMaker, options: RabbitPublisherOptions) {
    this.#link = link;
    this.#queues = queues;
    this.#options = options;
  }

  /** Each window of messages has `confirmTimeoutMs`; the first that is not confirmed in time throws `unavailable`. */
  async publish(queue: string, messages: readonly Json[]): Promise<void> {
    const publishing = this.#publishAll(queue, messages);
    this.#underWay.add(publishing);
    try {
      await publishing;
    } finally {
      this.#underWay.delete(publishing);
    }
  }

  /** Resolves when nothing is under way any more. */
  async drain(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  async #publishAll(queue: string, messages: readonly Json[]): Promise<void> {
    for (let start = 0; start < messages.length; start += windowSize) {
      await this.#publishWindow(queue, messages.slice(start, start + windowSize));
    }
  }

  async #publishWindow(queue: string, messages: readonly Json[]): Promise<void> {
    const { confirmTimeoutMs } = this.#options;
    const waiting = new AbortController();
    try {
      const confirmed = this.#confirmed(queue, messages, waiting.signal).catch(async (error: unknown) => {
        if (error instanceof Problem || waiting.signal.aborted) throw error;
        // Once more: RabbitMQ refuses when two declare a new quorum queue at the same time.
        await sleep(againMs, waiting.signal);
        await this.#confirmed(queue, messages, waiting.signal);
      });
      await withTimeout(confirmTimeoutMs, confirmed, 'the broker did not confirm the messages in time');
    } catch (cause) {
      if (cause instanceof Problem) throw cause;
      throw new Problem(
        'unavailable',
        'the connection to the broker was lost before it confirmed the messages',
        {
          cause,
        },
      );
    } finally {
      waiting.abort(); // what still waits for a connection must not publish later
    }
  }

  async #confirmed(queue: string, messages: readonly Json[], signal: AbortSignal): Promise<void> {
    await this.#link.unblocked(signal);
    const publisherChannel = await this.#openChannel(await this.#link.connection(signal));
    await this.#ensureOnce(publisherChannel, queue);
    if (signal.aborted) return;
    await Promise.all(messages.map((message) => send(publisherChannel, queue, message)));
  }

  async #ensureOnce({ connection, ensured }: PublisherChannel, queue: string): Promise<void> {
    const ensuring = ensured.get(queue) ?? this.#queues.ensure(connection, queue);
    ensured.set(queue, ensuring);
    try {
      await ensuring;
    } catch (error) {
      if (ensured.get(queue) === ensuring) ensured.delete(queue);
      throw error;
    }
  }

  async #openChannel(connection: ChannelModel): Promise<PublisherChannel> {
    this.#publisherChannel ??= this.#createChannel(connection);
    return await this.#publisherChannel;
  }

  async #createChannel(connection: ChannelModel): Promise<PublisherChannel> {
    try {
      const channel = await connection.createConfirmChannel();
      const publisherChannel: PublisherChannel = {
        connection,
        channel,
        ensured: new Map(),
        returned: new Set(),
      };
      channel.on('error', (error) =>
        this.#options.log.error({ reason: reasonOf(error) }, 'publishing channel closed by the broker'),
      );
      channel.on('close', () => {
        this.#publisherChannel = undefined;
      });
      channel.on('return', (message) => {
        publisherChannel.ensured.delete(message.fields.routingKey);
        publisherChannel.returned.add(String(message.properties.messageId));
      });
      return publisherChannel;
    } catch (error) {
      this.#publisherChannel = undefined;
      throw error;
    }
  }
}

function send({ channel, returned }: PublisherChannel, queue: string, message: Json): Promise<void> {
  const messageId = randomUUID();
  const properties = {
    mandatory: true,
    persistent: true,
    contentType: 'application/json',
    messageId,
    timestamp: Math.floor(Date.now() / 1000),
  };
  return new Promise((resolve, reject) => {
    const onConfirm = (error: unknown) => {
      if (error) reject(error);
      else if (returned.delete(messageId))
        reject(new Problem('unavailable', 'the queue was removed from the broker'));
      else resolve();
    };
    channel.publish('', queue, Buffer.from(JSON.stringify(message)), properties, onConfirm);
  });
}
