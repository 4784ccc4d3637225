import type { Broker } from '../broker.ts';
import type { TestBroker } from '../testing.ts';

/** Broker and queue of one test of the conformance suite. */
export interface BrokerUnderTest {
  readonly broker: TestBroker;
  /** A queue that no other test uses. */
  readonly queue: string;
  /** Opens another broker. */
  open(): Promise<TestBroker>;
}

/** Returns the integers from 0 to `count` - 1. */
export const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** A handler that runs until it is released, and records its messages and how many of it run at once. */
export function blockingHandler() {
  const seen: unknown[] = [];
  let running = 0;
  let maxRunning = 0;
  const blocked = new Set<() => void>();
  const handler = async (message: unknown) => {
    seen.push(message);
    running += 1;
    maxRunning = Math.max(maxRunning, running);
    await new Promise<void>((resolve) => blocked.add(resolve));
    running -= 1;
    return 'ack' as const;
  };
  const release = () => {
    for (const resolve of blocked) resolve();
    blocked.clear();
  };
  return { handler, release, seen, running: () => running, maxRunning: () => maxRunning };
}

/** Consumes a queue into a list. */
export async function collect(broker: Broker, queue: string, concurrency = 1) {
  const seen: unknown[] = [];
  const consumer = await broker.consume(queue, { concurrency }, async (message) => {
    seen.push(message);
    return 'ack';
  });
  return { seen, consumer };
}
