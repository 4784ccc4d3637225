import { setImmediate as endOfTurn, setTimeout as sleep } from 'node:timers/promises';

/**
 * Shares reads among concurrent calls. A call never returns a result older than itself: calls during a read wait for the
 * next one, so at most one read runs at a time. A failed read fails only the calls that waited for it.
 *
 * Under load, reads start at least `gapMs` apart, so that more calls share each of them. A call after an idle period
 * does not wait.
 */
export function sharedRead<T>(read: () => Promise<T>, gapMs = 0): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let lastStart = Number.NEGATIVE_INFINITY;
  let pending: Promise<T> | undefined;

  const start = async (): Promise<T> => {
    await running;
    const waitMs = lastStart + gapMs - performance.now();
    if (waitMs > 1) await sleep(waitMs);
    else await endOfTurn(); // calls from the same turn of the event loop share the read
    pending = undefined;
    lastStart = performance.now();
    const result = read();
    running = result.catch(() => undefined);
    return result;
  };
  return () => {
    pending ??= start();
    return pending;
  };
}
