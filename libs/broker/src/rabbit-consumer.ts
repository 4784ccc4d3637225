import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import type { BrokerLog, Consumer, MessageHandler, Verdict } from './broker.ts';
import { judgeDelivery } from './judge-delivery.ts';
import { backoffMs, requeueBackoffMs, sleep } from './pause.ts';
import { type RabbitLink, reasonOf } from './rabbit-link.ts';
import { deliveriesOf, type QueueMaker } from './rabbit-queues.ts';
import { RunningHandlers } from './running-handlers.ts';
import { withTimeout } from './with-timeout.ts';

export interface RabbitConsumerOptions {
  queue: string;
  concurrency: number;
  handler: MessageHandler;
  handlerTimeoutMs: number;
  /** How long a message that is to be delivered again is held back. */
  requeuePauseMs: number;
  /** How often an idle consumer asks whether the queue still knows it. */
  watchIntervalMs: number;
  log: BrokerLog;
}

/** One channel, and the tag of the consumption on it while there is one. */
interface Session {
  channel: Channel;
  tag: string | undefined;
  received: number;
  receivedAtLastLook: number;
}

interface Received {
  channel: Channel;
  message: ConsumeMessage;
}

const reopenPause = { firstMs: 100, maxMs: 5_000 };
/** No handler starts after a pause or stop whatever the broker answers, so nobody need wait long for that. */
const answerTimeoutMs = 800;

/**
 * Consumes one queue on a channel of its own, opened again after each loss. The prefetch equals the concurrency, so
 * that no message lies here unstarted: giving one back counts towards its delivery limit.
 */
export class RabbitConsumer implements Consumer {
  readonly #link: RabbitLink;
  readonly #queues: QueueMaker;
  readonly #options: RabbitConsumerOptions;
  readonly #running: RunningHandlers;
  readonly #stopping = new AbortController();
  readonly #ended: Promise<void>;
  #wanted: 'running' | 'paused' | 'stopped' = 'running';
  #hurry = new AbortController();
  #session: Session | undefined;
  #turn: Promise<void> = Promise.resolve();
  #waiting: Received[] = [];

  constructor(link: RabbitLink, queues: QueueMaker, options: RabbitConsumerOptions) {
    this.#link = link;
    this.#queues = queues;
    this.#options = options;
    this.#running = new RunningHandlers(options.concurrency);
    this.#ended = this.#keepConsuming();
  }

  async pause(): Promise<void> {
    if (this.#wanted === 'running') this.#closeGate('paused');
    await this.#answered(this.#reconcile());
  }

  async resume(): Promise<void> {
    if (this.#wanted === 'paused') {
      this.#wanted = 'running';
      this.#hurry = new AbortController();
    }
    await this.#answered(this.#reconcile());
  }

  async stop(): Promise<void> {
    this.#closeGate('stopped');
    this.#stopping.abort();
    await this.#answered(this.#reconcile());
    await this.#running.idle();
    await this.#answered(this.#session?.channel.close() ?? Promise.resolve());
    await this.#answered(this.#ended);
  }

  #closeGate(wanted: 'paused' | 'stopped'): void {
    this.#wanted = wanted;
    this.#hurry.abort();
    for (const received of this.#waiting.splice(0)) settle(received, 'requeue');
  }

  #answered(answer: Promise<unknown>): Promise<unknown> {
    return withTimeout(answerTimeoutMs, answer, 'the broker does not answer').catch(() => undefined);
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
        if (failures === 0)
          log.error({ queue, reason: reasonOf(error) }, 'queue cannot be consumed; trying again');
        failures += 1;
      }
      await sleep(backoffMs(failures, reopenPause), stopping);
    }
  }

  /** Opens a channel, consumes if that is wanted, and resolves when the channel is closed. */
  async #runSession(connection: ChannelModel): Promise<void> {
    const { concurrency, log, queue } = this.#options;
    await this.#queues.ensure(connection, queue);
    const channel = await connection.createChannel();
    const closed = new Promise<void>((resolve) => channel.once('close', () => resolve()));
    channel.on('error', (error) =>
      log.warn({ queue, reason: reasonOf(error) }, 'consuming channel closed by the broker'),
    );
    await channel.prefetch(concurrency);
    const session = { channel, tag: undefined, received: 0, receivedAtLastLook: -1 };
    this.#session = session;
    const watching = setInterval(() => void this.#watch(session), this.#options.watchIntervalMs);
    try {
      await this.#reconcile();
      if (this.#stopping.signal.aborted) await channel.close();
      await closed;
    } finally {
      clearInterval(watching);
      this.#session = undefined;
    }
    this.#waiting = this.#waiting.filter((received) => received.channel !== channel); // the queue has them again
  }

  /**
   * Consumes anew when the queue has forgotten us: it has messages, or no consumer at all, and yet sent nothing to an
   * idle consumer between two looks. RabbitMQ 3.10 does that when a queue is deleted and declared again quickly.
   */
  async #watch(session: Session): Promise<void> {
    if (session.tag === undefined || this.#running.count > 0) return;
    const { queue, log } = this.#options;
    const { received } = session;
    try {
      const { messageCount, consumerCount } = await session.channel.checkQueue(queue);
      const isForgotten =
        received === session.receivedAtLastLook && (messageCount > 0 || consumerCount === 0);
      session.receivedAtLastLook = received;
      if (!isForgotten || received !== session.received || session.tag === undefined) return;
      log.warn({ queue }, 'queue forgot its consumer; consuming again');
      await session.channel.close();
    } catch {
      // The channel is being closed, or was by this look as the queue is gone: the session ends and a new one begins.
    }
  }

  /** Brings the session to what is wanted, one step at a time. */
  #reconcile(): Promise<void> {
    const step = this.#turn.then(() => this.#reconcileNow());
    this.#turn = step.catch(() => undefined);
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
      // The queue was deleted or moved: a new channel declares it and consumes again.
      this.#options.log.warn({ queue: this.#options.queue }, 'consumption cancelled by the broker');
      channel.close().catch(() => undefined);
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
    const delivery = {
      queue,
      messageId: String(message.properties.messageId ?? ''),
      text: message.content.toString('utf8'),
      deliveries: deliveriesOf(message),
    };
    const verdict = await judgeDelivery(handler, delivery, this.#options);
    if (verdict === 'requeue')
      await sleep(requeueBackoffMs(requeuePauseMs, delivery.deliveries), this.#hurry.signal);
    settle(received, verdict);
  }
}

function settle({ channel, message }: Received, verdict: Verdict): void {
  try {
    if (verdict === 'ack') channel.ack(message);
    else channel.nack(message, false, verdict === 'requeue');
  } catch {
    // The channel is gone, and with it the delivery: the queue gives the message to somebody else.
  }
}
