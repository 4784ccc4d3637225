import { Problem } from '@secrets/domain';
import type { Broker, PublishOptions } from '../broker.ts';
import { type MemoryOptions, MemoryQueue } from './memory-queue.ts';

/** More than a queue holds unless its consumers are stuck. */
const maxWaiting = 100_000;

/** A broker that also takes messages as text. */
interface MemoryBroker extends Broker {
  publishTexts(queue: string, texts: readonly string[], options?: PublishOptions): void;
}

/**
 * Opens a broker in the memory of this process. What is waiting when the process ends is lost: what publishes must
 * announce it again after a start.
 */
export function openMemoryBroker(given: Pick<MemoryOptions, 'log'> & Partial<MemoryOptions>): MemoryBroker {
  const options = { handlerTimeoutMs: 600_000, requeuePauseMs: 500, ...given };
  const queues = new Map<string, MemoryQueue>();
  let isClosed = false;
  const queueOf = (name: string): MemoryQueue => {
    const queue = queues.get(name) ?? new MemoryQueue(name, options);
    queues.set(name, queue);
    return queue;
  };
  const publishTexts: MemoryBroker['publishTexts'] = (name, texts, { traceparents } = {}) => {
    if (isClosed) throw new Problem('unavailable', 'the broker is closed');
    const queue = queueOf(name);
    if (queue.ready + texts.length > maxWaiting) throw new Problem('unavailable', 'the queue is full');
    queue.publish(texts, traceparents);
  };
  return {
    publishTexts,
    publish: async (name, messages, options) =>
      publishTexts(
        name,
        messages.map((message) => JSON.stringify(message)),
        options,
      ),
    consume: async (name, { concurrency }, handler) => queueOf(name).consume(concurrency, handler),
    depth: async (name) => ({ ready: queueOf(name).ready, consumers: queueOf(name).consumers }),
    deadLetterDepth: async (name) => queueOf(name).deadLetters.length,
    deadLetters: async (name, limit) =>
      queueOf(name)
        .deadLetters.slice(0, limit)
        .map(({ messageId, text }) => ({ messageId, text })),
    resendDeadLetters: async (name, selection) => {
      const texts = queueOf(name)
        .takeDeadLetters(selection)
        .map(({ text }) => text);
      queueOf(name).publish(texts);
      return texts.length;
    },
    discardDeadLetters: async (name, selection) => queueOf(name).takeDeadLetters(selection).length,
    state: () => (isClosed ? 'reconnecting' : 'connected'),
    close: async () => {
      isClosed = true;
      await Promise.all([...queues.values()].map((queue) => queue.close()));
    },
  };
}
