import { randomUUID } from 'node:crypto';
import type { BrokerLog, Consumer, DeadLetterSelection, MessageHandler } from '../broker.ts';
import { handleDelivery, type Outcome } from '../delivery/handle-delivery.ts';
import { RunningHandlers } from '../delivery/running-handlers.ts';
import { WaitingMessages } from '../delivery/waiting-messages.ts';
import { requeueBackoffMs } from '../waiting/pause.ts';

export interface MemoryOptions {
  log: BrokerLog;
  /** Default 10 minutes. */
  handlerTimeoutMs: number;
  /** The pause before a message is delivered again for the first time; default 500 ms. */
  requeuePauseMs: number;
}

interface Message {
  messageId: string;
  text: string;
  /** The number of deliveries so far. */
  deliveries: number;
  /** Number of times that its handler has waited for a dependency since then. */
  waits: number;
  traceparent?: string | null | undefined;
}

interface MemoryConsumer {
  isConsuming: boolean;
  handler: MessageHandler;
  running: RunningHandlers;
}

/** The newest dead letters that are kept. */
const maxDeadLetters = 10_000;

/** One queue, its consumers and its dead letters. */
export class MemoryQueue {
  readonly #name: string;
  readonly #options: MemoryOptions & { waiting: WaitingMessages };
  readonly #consumers = new Set<MemoryConsumer>();
  /** In order; a message that is delivered again is the last one. */
  readonly #waiting = new Set<Message>();
  /** Pauses before messages are delivered again. */
  readonly #pauses = new Set<NodeJS.Timeout>();
  #deadLetters: Message[] = [];
  #waking: NodeJS.Immediate | undefined;

  constructor(name: string, options: MemoryOptions) {
    this.#name = name;
    this.#options = { ...options, waiting: new WaitingMessages(options.log) };
  }

  /** Messages that wait, also for the end of a pause. */
  get ready(): number {
    return this.#waiting.size + this.#pauses.size;
  }

  get consumers(): number {
    return [...this.#consumers].filter(({ isConsuming }) => isConsuming).length;
  }

  get deadLetters(): readonly Message[] {
    return this.#deadLetters;
  }

  publish(texts: readonly string[], traceparents: readonly (string | null | undefined)[] = []): void {
    for (const [index, text] of texts.entries())
      this.#waiting.add({
        messageId: randomUUID(),
        text,
        deliveries: 0,
        waits: 0,
        traceparent: traceparents[index],
      });
    this.#wake();
  }

  consume(concurrency: number, handler: MessageHandler): Consumer {
    const consumer = { isConsuming: true, handler, running: new RunningHandlers(concurrency) };
    const set = (isConsuming: boolean) => {
      consumer.isConsuming = isConsuming;
      this.#wake();
    };
    this.#consumers.add(consumer);
    this.#wake();
    return {
      pause: async () => set(false),
      resume: async () => set(true),
      stop: () => {
        this.#consumers.delete(consumer);
        return consumer.running.idle();
      },
    };
  }

  /** Removes dead letters, and returns them. */
  takeDeadLetters({ messageIds, limit }: DeadLetterSelection): Message[] {
    const oldest = this.#deadLetters.slice(0, limit);
    const taken = new Set(oldest.filter(({ messageId }) => messageIds?.includes(messageId) ?? true));
    this.#deadLetters = this.#deadLetters.filter((message) => !taken.has(message));
    return [...taken];
  }

  /** Resolves when the running handlers have ended. */
  async close(): Promise<void> {
    const consumers = [...this.#consumers];
    this.#consumers.clear();
    await Promise.all(consumers.map(({ running }) => running.idle()));
    for (const pause of this.#pauses) clearTimeout(pause);
  }

  /** Hands out messages soon: not at once, because handlers that end at once must not starve timers and sockets. */
  #wake(): void {
    this.#waking ??= setImmediate(() => {
      this.#waking = undefined;
      this.#handOut();
    });
  }

  #handOut(): void {
    for (const message of this.#waiting) {
      const consumer = this.#freeConsumer();
      if (consumer === undefined) return;
      this.#waiting.delete(message);
      consumer.running.start(() => this.#deliver(message, consumer.handler)).then(() => this.#wake());
    }
  }

  /** Returns the free consumer with the fewest running handlers, so that consumers share the work. */
  #freeConsumer(): MemoryConsumer | undefined {
    return [...this.#consumers]
      .filter(({ isConsuming, running }) => isConsuming && running.hasRoom())
      .sort((one, other) => one.running.count - other.running.count)[0];
  }

  async #deliver(message: Message, handler: MessageHandler): Promise<void> {
    if (message.waits === 0) message.deliveries += 1;
    this.#settle(message, await handleDelivery(handler, { ...message, queue: this.#name }, this.#options));
  }

  #settle(message: Message, verdict: Outcome): void {
    message.waits = verdict === 'wait' ? message.waits + 1 : 0;
    if (verdict === 'dead-letter') this.#deadLetters = [...this.#deadLetters, message].slice(-maxDeadLetters);
    if (verdict !== 'requeue' && verdict !== 'wait') return;
    const pause = setTimeout(
      () => {
        this.#pauses.delete(pause);
        this.#waiting.add(message);
        this.#wake();
      },
      requeueBackoffMs(this.#options.requeuePauseMs, message.waits || message.deliveries),
    );
    this.#pauses.add(pause);
  }
}
