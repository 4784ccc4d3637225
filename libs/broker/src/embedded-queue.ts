import { setImmediate } from 'node:timers/promises';
import type { Db } from '@secrets/db';
import { errorCode } from '@secrets/domain';
import type { BrokerLog } from './broker.ts';
import type { EmbeddedConsumer } from './embedded-consumer.ts';
import { pageOfMessages, type StoredMessage } from './queries/messages.ts';
import { WakeSignal } from './wake-signal.ts';

export interface QueueCounts {
  waiting: number;
  deadLetters: number;
}

const pageSize = 200;
/** Publications wake the queue; the poll is for what came into the table otherwise. */
const pollMs = 1_000;

/**
 * Hands the messages of one queue to its consumers, in order. Holds at most one page in memory, and remembers the
 * place up to which it has read, so that no statement walks over rows that were handed out or deleted before.
 */
export class EmbeddedQueue {
  readonly name: string;
  readonly counts: QueueCounts;
  readonly #db: Db;
  readonly #log: BrokerLog;
  readonly #signal = new WakeSignal();
  readonly #consumers: EmbeddedConsumer[] = [];
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

  add(consumer: EmbeddedConsumer): void {
    this.#consumers.push(consumer);
    this.#running ??= this.#run();
    this.wake();
  }

  remove(consumer: EmbeddedConsumer): void {
    const index = this.#consumers.indexOf(consumer);
    if (index >= 0) this.#consumers.splice(index, 1);
  }

  /** Something may be there to hand out, or somebody free to take it. */
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

  /** The consumer with the fewest handlers at work: so they share. */
  #freeConsumer(): EmbeddedConsumer | undefined {
    let best: EmbeddedConsumer | undefined;
    for (const consumer of this.#consumers) {
      if (consumer.isFree() && (best === undefined || consumer.runningCount() < best.runningCount()))
        best = consumer;
    }
    return best;
  }

  async #readPage(): Promise<boolean> {
    try {
      await setImmediate(); // the database answers without one: timers and sockets must get their turn
      this.#page = await pageOfMessages(this.#db, this.name, this.#readUpTo, pageSize);
    } catch (error) {
      this.#log.error({ queue: this.name, code: errorCode(error) }, 'messages could not be read');
      return false;
    }
    this.#readUpTo = this.#page.at(-1)?.id ?? this.#readUpTo;
    return this.#page.length > 0;
  }
}
