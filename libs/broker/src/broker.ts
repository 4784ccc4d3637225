import type { Json } from '@secrets/domain';

/**
 * The outcome of a delivery: `ack` removes the message; `requeue` delivers it again later, and dead-letters it after
 * `deliveryLimit` deliveries; `dead-letter` sets it aside immediately, for an operator to inspect.
 */
export type Verdict = 'ack' | 'requeue' | 'dead-letter';

export interface DeliveryContext {
  /** How often this message was delivered, including this time. A crash of the consumer may count as a delivery. */
  deliveries: number;
  messageId: string;
  /** The trace that the message belongs to, as it was published; undefined if it belongs to none. */
  traceparent?: string | null | undefined;
}

/**
 * Handles one message. Throwing, or exceeding the timeout, is the same as `requeue`; throwing `unavailable` delays the message
 * without counting a delivery.
 */
export type MessageHandler = (message: unknown, context: DeliveryContext) => Promise<Verdict>;

/** One subscription to one queue. */
export interface Consumer {
  /** Starts no more handlers; running ones finish. Stays paused across reconnects. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Starts no more handlers. Resolves when the running ones have ended and their verdicts were sent. */
  stop(): Promise<void>;
}

export interface Depth {
  /** Messages waiting, without those being handled. */
  ready: number;
  /** Consumers of the queue, in all processes. */
  consumers: number;
}

export interface DeadLetter {
  messageId: string;
  /** The body as received, whether or not it is JSON. */
  text: string;
}

/** Selects dead letters among the first `limit` of a queue: those with one of these IDs, or all of them if there are no IDs. */
export interface DeadLetterSelection {
  messageIds?: readonly string[] | undefined;
  limit: number;
}

/** Properties that are sent along with messages. */
export interface PublishOptions {
  /** The trace of each message, in the order of the messages. On RabbitMQ, it is the header `traceparent`. */
  traceparents?: readonly (string | null | undefined)[];
}

/**
 * Queues of JSON messages, each delivered at least once and roughly in the order of publication. A queue is
 * created on first use.
 */
export interface Broker {
  /**
   * Resolves when the broker has stored all messages: durably, unless it is in memory. Throws `unavailable` if that was
   * not confirmed; any of the messages may have arrived nevertheless. Consumers must tolerate duplicates.
   */
  publish(queue: string, messages: readonly Json[], options?: PublishOptions): Promise<void>;
  /** Runs at most `concurrency` handlers at once. Resolves immediately, even if the broker is unreachable. */
  consume(queue: string, options: { concurrency: number }, handler: MessageHandler): Promise<Consumer>;
  /** Throws `unavailable` if the broker is unreachable, as do the next four methods. */
  depth(queue: string): Promise<Depth>;
  deadLetterDepth(queue: string): Promise<number>;
  /**
   * Returns dead letters, roughly the oldest first, without removing them. On RabbitMQ, inspecting them may change their order.
   */
  deadLetters(queue: string, limit: number): Promise<DeadLetter[]>;
  /**
   * Publishes dead letters to their queue again, as they were received, and removes them; returns how many. If the process dies
   * meanwhile, some may be both published and still dead letters.
   */
  resendDeadLetters(queue: string, selection: DeadLetterSelection): Promise<number>;
  /** Removes dead letters; returns how many. */
  discardDeadLetters(queue: string, selection: DeadLetterSelection): Promise<number>;
  state(): 'connected' | 'reconnecting';
  /** Stops the consumers, waits for running handlers and publications, and closes. */
  close(): Promise<void>;
}

/** Number of deliveries after which a message is dead-lettered. RabbitMQ 4 has the same limit by default. */
export const deliveryLimit = 20;

/** The methods of a logger that the brokers use. A pino logger fits. */
export interface BrokerLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
