import type { Json } from '@secrets/domain';
import type { Broker } from '../broker.ts';

export interface OutboxMessage<Id> {
  id: Id;
  queue: string;
  message: Json;
  traceparent?: string | null | undefined;
}

/** An outbox, and the broker to which its messages go. */
export interface Outbox<Id> {
  /**
   * Returns at most `limit` messages that are due, and leases them to this relay in the same statement (`update … set
   * due_at = now() + … where … for update skip locked … returning …`). A message that is not done when its lease ends is
   * due again.
   */
  take(limit: number): Promise<OutboxMessage<Id>[]>;
  broker: Pick<Broker, 'publish'>;
  /** Removes published messages from the outbox. If it fails, they are published again. */
  done(ids: Id[]): Promise<void>;
  /** Called with the messages that could not be published, to end their lease early. */
  failed?(ids: Id[]): Promise<void>;
}

/**
 * Publishes one batch and returns its size. A queue that cannot be published to does not hold up the others; its error is
 * thrown after them.
 */
export async function publishBatch<Id>(outbox: Outbox<Id>, batchSize: number): Promise<number> {
  const batch = await outbox.take(batchSize);
  const groups = [...Map.groupBy(batch, ({ queue }) => queue)];
  const outcomes = await Promise.allSettled(
    groups.map(([queue, messages]) => publishToQueue(outbox, queue, messages)),
  );
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  return batch.length;
}

async function publishToQueue<Id>(
  outbox: Outbox<Id>,
  queue: string,
  taken: OutboxMessage<Id>[],
): Promise<void> {
  const ids = taken.map(({ id }) => id);
  const messages = taken.map(({ message }) => message);
  const traceparents = taken.map(({ traceparent }) => traceparent);
  try {
    await outbox.broker.publish(queue, messages, { traceparents });
  } catch (error) {
    await outbox.failed?.(ids);
    throw error;
  }
  await outbox.done(ids);
}
