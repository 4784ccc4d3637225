import { setImmediate as endOfTurn } from 'node:timers/promises';

/**
 * Shares reads among concurrent calls. A call never returns a result older than itself: calls during a read wait for the
 * next one, so at most one read runs at a time. A failed read fails only the calls that waited for it.
 */
export function coalescedRead<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let pending: Promise<T> | undefined;

  const start = async (): Promise<T> => {
    await running;
    await endOfTurn(); // calls from the same turn of the event loop share the read
    pending = undefined;
    const result = read();
    running = result.catch(() => undefined);
    return result;
  };
  return () => (pending ??= start());
}
