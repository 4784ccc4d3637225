import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import pTimeout, { TimeoutError } from 'p-timeout';
import type { BrokerLog, Consumer, MessageHandler, Verdict } from '../broker.ts';
import { handleDelivery } from '../delivery/handle-delivery.ts';
import { RunningHandlers } from '../delivery/running-handlers.ts';
import { WaitingMessages } from '../delivery/waiting-messages.ts';
import { backoffMs, requeueBackoffMs, sleepUntilAborted } from '../waiting/pause.ts';
import { type RabbitConnection, reasonOf } from './rabbit-connection.ts';
import { closeChannel, deliveriesOf, type QueueDeclarer, traceparentOf } from './rabbit-queues.ts';

export interface RabbitConsumerOptions {
  queue: string;
  concurrency: number;
  handler: MessageHandler;
  handlerTimeoutMs: number;
  /** How long RabbitMQ may take to answer while a channel is opened. */
  confirmTimeoutMs: number;
  /** The pause before a message is delivered again for the first time. */
  requeuePauseMs: number;
  /** How often an idle consumer checks that the queue still knows it. */
  watchIntervalMs: number;
  log: BrokerLog;
}

/** One channel, and the tag of its subscription while there is one. */
interface Session {
  channel: Channel;
  tag: string | undefined;
  received: number;
  receivedAtLastCheck: number;
}

interface Received {
  channel: Channel;
  message: ConsumeMessage;
}

const reopenPause = { firstMs: 100, maxMs: 5_000 };
/** After a pause or stop no handler starts, whatever the broker answers, so a short wait is enough. */
const answerTimeoutMs = 800;

/**
 * Consumes one queue on a channel of its own, reopened whenever it is lost. The prefetch equals the concurrency, so that
 * no message waits here: returning it would count towards its delivery limit.
 */
export class RabbitConsumer implements Consumer {
  readonly #link: RabbitConnection;
  readonly #queues: QueueDeclarer;
  readonly #options: RabbitConsumerOptions;
  readonly #running: RunningHandlers;
  readonly #stopping = new AbortController();
  readonly #ended: Promise<void>;
  #wanted: 'running' | 'paused' | 'stopped' = 'running';
  /** Ends the pauses before requeuing: a paused consumer keeps no messages. */
  #requeueNow = new AbortController();
  #session: Session | undefined;
  #lastStep: Promise<void> = Promise.resolve();
  #waiting: Received[] = [];
  readonly #awaiting: WaitingMessages;

  constructor(link: RabbitConnection, queues: QueueDeclarer, options: RabbitConsumerOptions) {
    this.#link = link;
    this.#queues = queues;
    this.#options = options;
    this.#running = new RunningHandlers(options.concurrency);
    this.#awaiting = new WaitingMessages(options.log);
    this.#ended = this.#keepConsuming();
  }

  async pause(): Promise<void> {
    if (this.#wanted === 'running') this.#refuseDeliveries('paused');
    await this.#settledSoon(this.#reconcile());
  }

  async resume(): Promise<void> {
    if (this.#wanted === 'paused') {
      this.#wanted = 'running';
      this.#requeueNow = new AbortController();
    }
    await this.#settledSoon(this.#reconcile());
  }

  async stop(): Promise<void> {
    this.#refuseDeliveries('stopped');
    this.#stopping.abort();
    await this.#settledSoon(this.#reconcile());
    await this.#running.idle();
    if (this.#session !== undefined) await this.#settledSoon(closeChannel(this.#session.channel));
    await this.#settledSoon(this.#ended);
  }

  #refuseDeliveries(wanted: 'paused' | 'stopped'): void {
    this.#wanted = wanted;
    this.#requeueNow.abort();
    for (const received of this.#waiting.splice(0)) settle(received, 'requeue');
  }

  async #settledSoon(answer: Promise<unknown>): Promise<void> {
    await pTimeout(answer, { milliseconds: answerTimeoutMs }).catch(() => undefined);
  }

  async #keepConsuming(): Promise<void> {
    const stopping = this.#stopping.signal;
    const { log, queue } = this.#options;
    let failures = 0;
    while (!stopping.aborted) {
      try {
        await this.#runSession(await this.#link.connection(stopping));
        failures = 0;
      } catch (error) {
        if (stopping.aborted) return;
        if (error instanceof TimeoutError) this.#link.noteSilence();
        else if (failures === 0)
          log.error({ queue, reason: reasonOf(error) }, 'queue cannot be consumed; retrying');
        failures += 1;
      }
      await sleepUntilAborted(backoffMs(failures, reopenPause), stopping);
    }
  }

  /** Opens a channel, consumes unless paused, and resolves when the channel is closed. */
  async #runSession(connection: ChannelModel): Promise<void> {
    const opening = this.#openChannel(connection);
    const channel = await this.#answered(opening).catch((error: unknown) => {
      opening.then(closeChannel, () => undefined); // in case it opens late
      throw error;
    });
    const closed = new Promise<void>((resolve) => channel.once('close', () => resolve()));
    const session = { channel, tag: undefined, received: 0, receivedAtLastCheck: -1 };
    this.#session = session;
    const checks = setInterval(() => void this.#checkSubscription(session), this.#options.watchIntervalMs);
    try {
      await this.#answered(channel.prefetch(this.#options.concurrency));
      await this.#answered(this.#reconcile());
      this.#link.noteAnswer();
      if (this.#stopping.signal.aborted) await closeChannel(channel);
      await closed;
    } finally {
      clearInterval(checks);
      this.#session = undefined;
      void closeChannel(channel); // still open if RabbitMQ did not answer: the next session opens another
      this.#waiting = this.#waiting.filter((received) => received.channel !== channel); // RabbitMQ requeues the others
    }
  }

  /** Rejects if RabbitMQ does not answer in time. A request to a quorum queue without a leader may wait for long. */
  async #answered<T>(answer: Promise<T>): Promise<T> {
    return await pTimeout(answer, {
      milliseconds: this.#options.confirmTimeoutMs,
      message: 'the broker did not answer',
    });
  }

  async #openChannel(connection: ChannelModel): Promise<Channel> {
    const { log, queue } = this.#options;
    await this.#queues.ensure(connection, queue);
    const channel = await connection.createChannel();
    channel.on('error', (error) =>
      log.warn({ queue, reason: reasonOf(error) }, 'consumer channel closed by the broker'),
    );
    return channel;
  }

  /**
   * Reopens the channel if the queue has forgotten this consumer: between two checks, an idle consumer received nothing
   * although the queue has messages, or has no consumer at all. RabbitMQ 3.10 forgets consumers when a queue is deleted and
   * soon declared again.
   */
  async #checkSubscription(session: Session): Promise<void> {
    if (session.tag === undefined || this.#running.count > 0) return;
    const { queue, log } = this.#options;
    const { received } = session;
    try {
      const { messageCount, consumerCount } = await session.channel.checkQueue(queue);
      const isForgotten =
        received === session.receivedAtLastCheck && (messageCount > 0 || consumerCount === 0);
      session.receivedAtLastCheck = received;
      if (!isForgotten || received !== session.received || session.tag === undefined) return;
      log.warn({ queue }, 'queue lost its consumer; consuming again');
      await closeChannel(session.channel);
    } catch {
      // The channel is closed, perhaps by this check because the queue is gone. A new session begins.
    }
  }

  /** Starts or cancels the subscription as `#wanted` says. Calls run one after the other. */
  #reconcile(): Promise<void> {
    const step = this.#lastStep.then(() => this.#reconcileNow());
    this.#lastStep = step.catch(() => undefined);
    return step;
  }

  async #reconcileNow(): Promise<void> {
    const session = this.#session;
    if (session === undefined) return;
    if (this.#wanted === 'running' && session.tag === undefined) {
      const { consumerTag } = await session.channel.consume(this.#options.queue, (message) =>
        this.#receive(session, message),
      );
      session.tag = consumerTag;
    } else if (this.#wanted !== 'running' && session.tag !== undefined) {
      const tag = session.tag;
      session.tag = undefined;
      await session.channel.cancel(tag);
    }
  }

  #receive(session: Session, message: ConsumeMessage | null): void {
    const { channel } = session;
    session.received += 1;
    if (message === null) {
      // The queue was deleted or moved. A new session declares it and consumes again.
      this.#options.log.warn({ queue: this.#options.queue }, 'subscription cancelled by the broker');
      void closeChannel(channel);
    } else if (this.#wanted !== 'running') {
      settle({ channel, message }, 'requeue');
    } else {
      this.#waiting.push({ channel, message });
      this.#startNext();
    }
  }

  #startNext(): void {
    while (this.#running.hasRoom()) {
      const received = this.#waiting.shift();
      if (received === undefined) return;
      this.#running.start(() => this.#work(received)).then(() => this.#startNext());
    }
  }

  async #work(received: Received): Promise<void> {
    const { requeuePauseMs, handler, queue } = this.#options;
    const { message } = received;
    const options = { ...this.#options, waiting: this.#awaiting };
    const delivery = {
      queue,
      messageId: String(message.properties.messageId ?? ''),
      text: message.content.toString('utf8'),
      deliveries: deliveriesOf(message),
      traceparent: traceparentOf(message),
    };
    let waits = 0;
    let verdict = await handleDelivery(handler, delivery, options);
    while (verdict === 'wait') {
      waits += 1;
      await sleepUntilAborted(requeueBackoffMs(requeuePauseMs, waits), this.#requeueNow.signal);
      if (this.#wanted === 'running') verdict = await handleDelivery(handler, delivery, options);
      else {
        this.#awaiting.forget(delivery.messageId);
        verdict = 'requeue';
      }
    }
    if (verdict === 'requeue')
      await sleepUntilAborted(requeueBackoffMs(requeuePauseMs, delivery.deliveries), this.#requeueNow.signal);
    settle(received, verdict);
  }
}

function settle({ channel, message }: Received, verdict: Verdict): void {
  try {
    if (verdict === 'ack') channel.ack(message);
    else channel.nack(message, false, verdict === 'requeue');
  } catch {
    // The channel is closed, and RabbitMQ has requeued the message.
  }
}
