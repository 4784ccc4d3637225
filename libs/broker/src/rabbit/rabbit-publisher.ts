import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Json, Problem } from '@secrets/domain';
import type { ChannelModel, ConfirmChannel } from 'amqplib';
import pTimeout from 'p-timeout';
import type { BrokerLog, PublishOptions } from '../broker.ts';
import { type RabbitConnection, reasonOf } from './rabbit-connection.ts';
import type { QueueDeclarer } from './rabbit-queues.ts';

export interface RabbitPublisherOptions {
  confirmTimeoutMs: number;
  log: BrokerLog;
}

/** A confirm channel and its state. */
interface PublisherChannel {
  connection: ChannelModel;
  channel: ConfirmChannel;
  /** Queues that exist. */
  ensured: Map<string, Promise<void>>;
  /** Ids of messages that RabbitMQ returned because their queue is gone. */
  returned: Set<string>;
}

/** A message as it is sent. */
interface Body {
  text: string;
  traceparent: string | null | undefined;
}

/** Messages that wait for their confirms at once. */
const windowSize = 500;
const retryMs = 100;

/** Publishes with confirms on one channel, reopened whenever it is lost. */
export class RabbitPublisher {
  readonly #link: RabbitConnection;
  readonly #queues: QueueDeclarer;
  readonly #options: RabbitPublisherOptions;
  readonly #inProgress = new Set<Promise<void>>();
  #publisherChannel: Promise<PublisherChannel> | undefined;

  constructor(link: RabbitConnection, queues: QueueDeclarer, options: RabbitPublisherOptions) {
    this.#link = link;
    this.#queues = queues;
    this.#options = options;
  }

  publish(queue: string, messages: readonly Json[], options?: PublishOptions): Promise<void> {
    return this.publishTexts(
      queue,
      messages.map((message) => JSON.stringify(message)),
      options,
    );
  }

  /** Publishes bodies in windows. The first one that is not confirmed within `confirmTimeoutMs` throws `unavailable`. */
  async publishTexts(queue: string, texts: readonly string[], options: PublishOptions = {}): Promise<void> {
    const { traceparents = [] } = options;
    const bodies = texts.map((text, at) => ({ text, traceparent: traceparents[at] }));
    const publishing = this.#publishAll(queue, bodies);
    this.#inProgress.add(publishing);
    try {
      await publishing;
    } finally {
      this.#inProgress.delete(publishing);
    }
  }

  /** Resolves when no publication is in progress. */
  async drain(): Promise<void> {
    await Promise.allSettled(this.#inProgress);
  }

  async #publishAll(queue: string, bodies: readonly Body[]): Promise<void> {
    for (let start = 0; start < bodies.length; start += windowSize) {
      await this.#publishWindow(queue, bodies.slice(start, start + windowSize));
    }
  }

  async #publishWindow(queue: string, bodies: readonly Body[]): Promise<void> {
    const { confirmTimeoutMs } = this.#options;
    const waiting = new AbortController();
    try {
      const confirmed = this.#confirmed(queue, bodies, waiting.signal).catch(async (error: unknown) => {
        if (error instanceof Problem || waiting.signal.aborted) throw error;
        // Retry: RabbitMQ refuses concurrent declarations of a new quorum queue.
        await sleep(retryMs, undefined, { signal: waiting.signal });
        await this.#confirmed(queue, bodies, waiting.signal);
      });
      await pTimeout(confirmed, { milliseconds: confirmTimeoutMs, fallback: unconfirmed });
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
      waiting.abort(); // a publication that still waits for a connection must not be sent later
    }
  }

  async #confirmed(queue: string, bodies: readonly Body[], signal: AbortSignal): Promise<void> {
    await this.#link.unblocked(signal);
    const publisherChannel = await this.#openChannel(await this.#link.connection(signal));
    await this.#ensureOnce(publisherChannel, queue);
    if (signal.aborted) return;
    await Promise.all(bodies.map((body) => send(publisherChannel, queue, body)));
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
        this.#options.log.error({ reason: reasonOf(error) }, 'publisher channel closed by the broker'),
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

const unconfirmed = (): never => {
  throw new Problem('unavailable', 'the broker did not confirm the messages in time');
};

function send(
  { channel, returned }: PublisherChannel,
  queue: string,
  { text, traceparent }: Body,
): Promise<void> {
  const messageId = randomUUID();
  const properties = {
    mandatory: true,
    persistent: true,
    contentType: 'application/json',
    messageId,
    timestamp: Math.floor(Date.now() / 1000),
    ...(traceparent == null ? {} : { headers: { traceparent } }),
  };
  return new Promise((resolve, reject) => {
    const onConfirm = (error: unknown) => {
      if (error) reject(error);
      else if (returned.delete(messageId))
        reject(new Problem('unavailable', 'the queue was removed from the broker'));
      else resolve();
    };
    channel.publish('', queue, Buffer.from(text), properties, onConfirm);
  });
}
