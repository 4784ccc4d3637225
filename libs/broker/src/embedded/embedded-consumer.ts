import type { BrokerLog, Consumer, MessageHandler, Verdict } from '../broker.ts';
import { judgeDelivery } from '../delivery/judge-delivery.ts';
import { RunningHandlers } from '../delivery/running-handlers.ts';
import type { EmbeddedQueue } from './embedded-queue.ts';
import type { StoredMessage } from './queries/messages.ts';

export interface EmbeddedConsumerOptions {
  concurrency: number;
  handler: MessageHandler;
  handlerTimeoutMs: number;
  log: BrokerLog;
  settle(queue: EmbeddedQueue, message: StoredMessage, verdict: Verdict): void;
}

/** Handles messages of one embedded queue while it is not paused and has a free handler. */
export class EmbeddedConsumer implements Consumer {
  readonly #queue: EmbeddedQueue;
  readonly #options: EmbeddedConsumerOptions;
  readonly #running: RunningHandlers;
  #wanted: 'running' | 'paused' | 'stopped' = 'running';

  constructor(queue: EmbeddedQueue, options: EmbeddedConsumerOptions) {
    this.#queue = queue;
    this.#options = options;
    this.#running = new RunningHandlers(options.concurrency);
    queue.add(this);
  }

  isConsuming(): boolean {
    return this.#wanted === 'running';
  }

  isFree(): boolean {
    return this.isConsuming() && this.#running.hasRoom();
  }

  runningCount(): number {
    return this.#running.count;
  }

  start(message: StoredMessage): void {
    this.#queue.counts.waiting -= 1;
    this.#running.start(() => this.#work(message)).then(() => this.#queue.wake());
  }

  async pause(): Promise<void> {
    if (this.#wanted === 'running') this.#wanted = 'paused';
  }

  async resume(): Promise<void> {
    if (this.#wanted === 'paused') this.#wanted = 'running';
    this.#queue.wake();
  }

  async stop(): Promise<void> {
    this.#wanted = 'stopped';
    this.#queue.remove(this);
    await this.#running.idle();
  }

  async #work(message: StoredMessage): Promise<void> {
    const { handler, settle } = this.#options;
    const delivery = { ...message, queue: this.#queue.name, deliveries: message.deliveries + 1 };
    settle(this.#queue, message, await judgeDelivery(handler, delivery, this.#options));
  }
}
