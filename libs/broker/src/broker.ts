import type { Json } from '@secrets/domain';

/**
 * What becomes of a delivered message: `ack` removes it; `requeue` delivers it again later, and dead-letters it after
 * `deliveryLimit` deliveries; `dead-letter` sets it aside at once, for an operator to inspect.
 */
export type Verdict = 'ack' | 'requeue' | 'dead-letter';

export interface DeliveryContext {
  /** How often this message was delivered, this time included. A crash of the consumer may count as one. */
  deliveries: number;
  messageId: string;
}

/** Works on one message. Throwing, or not answering in time, is the same as `requeue`. */
export type MessageHandler = (message: unknown, context: DeliveryContext) => Promise<Verdict>;

/** One subscription to one queue. */
export interface Consumer {
  /** No handler starts from now on; those running go on to their end. Kept over reconnects. */
  pause(): Promise<void>;
  /** Takes messages again. */
  resume(): Promise<void>;
  /** No handler starts from now on; resolves when the last one running has ended and its verdict was sent. */
  stop(): Promise<void>;
}

export interface Depth {
  /** Messages waiting, those in a handler's hands not counted. */
  ready: number;
  /** Consumers taking from the queue, of every process. */
  consumers: number;
}

export interface DeadLetter {
  messageId: string;
  /** The body as it came, decodable or not. */
  text: string;
}

/**
 * Durable queues of JSON messages, each delivered at least once. A queue comes to be by its first use.
 * Messages arrive roughly in the order of their publication.
 */
export interface Broker {
  /**
   * Resolves when the broker holds all messages durably. Throws `unavailable` when that could not be confirmed; any of
   * them may have arrived nevertheless, and publishing them again is harmless to consumers.
   */
  publish(queue: string, messages: readonly Json[]): Promise<void>;
  /** At most `concurrency` handlers at once. Resolves at once, also while the broker cannot be reached. */
  consume(queue: string, options: { concurrency: number }, handler: MessageHandler): Promise<Consumer>;
  /** Throws `unavailable` while the broker cannot be reached, like the two below. */
  depth(queue: string): Promise<Depth>;
  deadLetterDepth(queue: string): Promise<number>;
  /** The oldest dead letters; they stay where they are. */
  deadLetters(queue: string, limit: number): Promise<DeadLetter[]>;
  state(): 'connected' | 'reconnecting';
  /** Stops the consumers, lets running handlers and publications end, and closes. */
  close(): Promise<void>;
}

/** How often a message is delivered before it is dead-lettered. RabbitMQ 4 has the same limit by default. */
export const deliveryLimit = 20;

/** The part of a logger that the brokers use; pino's fits. */
export interface BrokerLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
