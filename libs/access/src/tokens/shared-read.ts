import { setImmediate as endOfTurn, setTimeout as sleep } from 'node:timers/promises';

/** Not load. */
const fewCalls = 3;

/**
 * Shares reads among concurrent calls. A call never returns a result older than itself: calls during a read wait for the
 * next one, so at most one read runs at a time. A failed read fails only the calls that waited for it.
 *
 * After a read that several calls shared, the next one starts at least `gapMs` later, so that more calls share it. Calls that come one
 * after the other do not wait.
 */
export function sharedRead<T>(read: () => Promise<T>, gapMs = 0): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let earliest = 0; // of the next read, in terms of performance.now()
  let calls = 0; // that wait for `pending`
  let pending: Promise<T> | undefined;

  const start = async (): Promise<T> => {
    await running;
    const waitMs = earliest - performance.now();
    if (waitMs > 1) await sleep(waitMs);
    else await endOfTurn(); // calls from the same turn of the event loop share the read
    pending = undefined;
    if (calls > fewCalls) earliest = performance.now() + gapMs;
    calls = 0;
    const result = read();
    running = result.catch(() => undefined);
    return result;
  };
  return () => {
    calls += 1;
    pending ??= start();
    return pending;
  };
}
