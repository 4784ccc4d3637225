import { type Db, migrate } from '@secrets/db';
import { Problem } from '@secrets/domain';
import { schemas } from '@secrets/schemas';
import type { Broker, BrokerLog, DeadLetterSelection, Verdict } from '../broker.ts';
import { requeueBackoffMs } from '../waiting/pause.ts';
import { EmbeddedConsumer } from './embedded-consumer.ts';
import { EmbeddedQueue } from './embedded-queue.ts';
import { EmbeddedSettlements } from './embedded-settlements.ts';
import {
  countMessages,
  deleteDeadLetters,
  insertMessages,
  moveBackDeadLetters,
  readDeadLetters,
  type StoredMessage,
} from './queries/messages.ts';

export interface EmbeddedOptions {
  log: BrokerLog;
  /** Default 10 minutes. */
  handlerTimeoutMs?: number;
  /** The pause before a message is delivered again for the first time; default 500 ms. */
  requeuePauseMs?: number;
}

const defaults = { handlerTimeoutMs: 600_000, requeuePauseMs: 500 };

/**
 * Opens a broker in this process that stores its messages in a database: unacknowledged messages are delivered again after a
 * restart. A database can have only one such broker. Publishing inside a transaction throws, like any other use of the
 * outer `Db`. Closing the broker does not close the database.
 */
export async function openEmbeddedBroker(db: Db, given: EmbeddedOptions): Promise<Broker> {
  await migrate(db, schemas.broker);
  const broker = new EmbeddedBroker(db, { ...defaults, ...given });
  await broker.start();
  return broker;
}

class EmbeddedBroker implements Broker {
  readonly #db: Db;
  readonly #options: Required<EmbeddedOptions>;
  readonly #settlements: EmbeddedSettlements;
  readonly #queues = new Map<string, EmbeddedQueue>();
  readonly #consumers: EmbeddedConsumer[] = [];
  /** Each ends one pause at once. */
  readonly #held = new Set<() => void>();
  readonly #publishing = new Set<Promise<void>>();
  #isClosed = false;

  constructor(db: Db, options: Required<EmbeddedOptions>) {
    this.#db = db;
    this.#options = options;
    this.#settlements = new EmbeddedSettlements(db, {
      log: options.log,
      onRequeued: (queue) => this.#queue(queue).wake(),
    });
  }

  /** Loads the counts of messages that the last process left. */
  async start(): Promise<void> {
    for (const { queue, waiting, deadLetters } of await countMessages(this.#db)) {
      Object.assign(this.#queue(queue).counts, { waiting, deadLetters });
    }
  }

  async publish(...[queue, messages, { traceparents } = {}]: Parameters<Broker['publish']>): Promise<void> {
    if (this.#isClosed) throw new Problem('unavailable', 'the broker is closed');
    if (messages.length === 0) return;
    const texts = messages.map((message) => JSON.stringify(message));
    const publishing = insertMessages(this.#db, queue, texts, traceparents);
    this.#publishing.add(publishing);
    try {
      await publishing;
    } finally {
      this.#publishing.delete(publishing);
    }
    this.#queue(queue).counts.waiting += messages.length;
    this.#queue(queue).wake();
  }

  async consume(
    ...[queue, { concurrency }, handler]: Parameters<Broker['consume']>
  ): Promise<EmbeddedConsumer> {
    const { handlerTimeoutMs, log } = this.#options;
    const settle = (...settled: [EmbeddedQueue, StoredMessage, Verdict]) => this.#settle(...settled);
    const consumer = new EmbeddedConsumer(this.#queue(queue), {
      concurrency,
      handler,
      handlerTimeoutMs,
      log,
      settle,
    });
    this.#consumers.push(consumer);
    return consumer;
  }

  async depth(queue: string) {
    const { counts } = this.#queue(queue);
    return { ready: Math.max(0, counts.waiting), consumers: this.#queue(queue).consumerCount() };
  }

  async deadLetterDepth(queue: string) {
    return this.#queue(queue).counts.deadLetters;
  }

  deadLetters(queue: string, limit: number) {
    return readDeadLetters(this.#db, queue, limit);
  }

  async resendDeadLetters(queue: string, selection: DeadLetterSelection): Promise<number> {
    const resent = await moveBackDeadLetters(this.#db, queue, selection);
    const { counts } = this.#queue(queue);
    counts.deadLetters -= resent;
    counts.waiting += resent;
    this.#queue(queue).wake();
    return resent;
  }

  async discardDeadLetters(queue: string, selection: DeadLetterSelection): Promise<number> {
    const discarded = await deleteDeadLetters(this.#db, queue, selection);
    this.#queue(queue).counts.deadLetters -= discarded;
    return discarded;
  }

  state() {
    return this.#isClosed ? 'reconnecting' : 'connected';
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#consumers.map((consumer) => consumer.stop()));
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
    await Promise.allSettled(this.#publishing);
    for (const release of this.#held) release();
    await this.#settlements.close();
  }

  #queue(name: string): EmbeddedQueue {
    let queue = this.#queues.get(name);
    if (queue === undefined) {
      queue = new EmbeddedQueue(name, this.#db, this.#options.log, { waiting: 0, deadLetters: 0 });
      this.#queues.set(name, queue);
    }
    return queue;
  }

  #settle(queue: EmbeddedQueue, { id, deliveries }: StoredMessage, verdict: Verdict): void {
    if (verdict === 'dead-letter') queue.counts.deadLetters += 1;
    if (verdict === 'requeue') queue.counts.waiting += 1;
    if (verdict === 'requeue' && !this.#isClosed)
      this.#requeueLater(queue.name, id, requeueBackoffMs(this.#options.requeuePauseMs, deliveries + 1));
    else this.#settlements.add({ queue: queue.name, id, verdict });
  }

  /** Moves a message to the end of its queue after a pause. */
  #requeueLater(queue: string, id: number, ms: number): void {
    const release = () => {
      clearTimeout(timer);
      this.#held.delete(release);
      this.#settlements.add({ queue, id, verdict: 'requeue' });
    };
    const timer = setTimeout(release, ms);
    this.#held.add(release);
  }
}
