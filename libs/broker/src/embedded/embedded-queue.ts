import { setImmediate } from 'node:timers/promises';
import type { Db } from '@secrets/db';
import { errorCode } from '@secrets/domain';
import type { BrokerLog } from '../broker.ts';
import { WakeSignal } from '../waiting/wake-signal.ts';
import { pageOfMessages, type StoredMessage } from './queries/messages.ts';

export interface QueueCounts {
  waiting: number;
  deadLetters: number;
}

/** What a queue needs to know of its consumers. */
interface QueueConsumer {
  isConsuming(): boolean;
  /** Whether it can start another handler. */
  isFree(): boolean;
  runningCount(): number;
  start(message: StoredMessage): void;
}

const pageSize = 200;
/** Publications wake the queue. The poll finds messages that were inserted by other means. */
const pollMs = 1_000;

/**
 * Hands the messages of one queue to its consumers, in order. Holds at most one page in memory, and remembers the id up to
 * which it has read, so that no statement scans rows that were already handed out or deleted.
 */
export class EmbeddedQueue {
  readonly name: string;
  readonly counts: QueueCounts;
  readonly #db: Db;
  readonly #log: BrokerLog;
  readonly #signal = new WakeSignal();
  readonly #consumers: QueueConsumer[] = [];
  #page: StoredMessage[] = [];
  #readUpTo = 0;
  #isClosing = false;
  #running: Promise<void> | undefined;

  constructor(name: string, db: Db, log: BrokerLog, counts: QueueCounts) {
    this.name = name;
    this.counts = counts;
    this.#db = db;
    this.#log = log;
  }

  add(consumer: QueueConsumer): void {
    this.#consumers.push(consumer);
    this.#running ??= this.#run();
    this.wake();
  }

  remove(consumer: QueueConsumer): void {
    const index = this.#consumers.indexOf(consumer);
    if (index >= 0) this.#consumers.splice(index, 1);
  }

  /** Call when there may be new messages, or a consumer has become free. */
  wake(): void {
    this.#signal.wake();
  }

  consumerCount(): number {
    return this.#consumers.filter((consumer) => consumer.isConsuming()).length;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isClosing) {
      this.#handOut();
      const hasMore =
        this.#page.length === 0 && this.#freeConsumer() !== undefined && (await this.#readPage());
      if (!hasMore) await this.#signal.wait(pollMs);
    }
  }

  #handOut(): void {
    let taken = 0;
    for (const message of this.#page) {
      const consumer = this.#freeConsumer();
      if (consumer === undefined) break;
      consumer.start(message);
      taken += 1;
    }
    this.#page.splice(0, taken);
  }

  /** Returns the free consumer with the fewest running handlers, so that consumers share the work. */
  #freeConsumer(): QueueConsumer | undefined {
    let best: QueueConsumer | undefined;
    for (const consumer of this.#consumers) {
      if (consumer.isFree() && (best === undefined || consumer.runningCount() < best.runningCount()))
        best = consumer;
    }
    return best;
  }

  async #readPage(): Promise<boolean> {
    try {
      await setImmediate(); // a database that always answers at once must not starve timers and sockets
      this.#page = await pageOfMessages(this.#db, this.name, this.#readUpTo, pageSize);
    } catch (error) {
      this.#log.error({ queue: this.name, code: errorCode(error) }, 'messages could not be read');
      return false;
    }
    this.#readUpTo = this.#page.at(-1)?.id ?? this.#readUpTo;
    return this.#page.length > 0;
  }
}
