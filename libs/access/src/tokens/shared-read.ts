import { setTimeout as after, setImmediate as endOfTurn } from 'node:timers/promises';

/**
 * Shares one read among all who ask while it waits its turn, and gives nobody an answer older than the question: who
 * asks while a read is under way waits for the next one. So there is at most one at a time, however many ask. A read
 * that fails, fails for those who waited for it.
 *
 * Under load a read begins `gapMs` after the one before it at the earliest: the more ask, the more share it. Whoever
 * asks when nobody did shortly before does not wait.
 */
export function sharedRead<T>(read: () => Promise<T>, gapMs = 0): () => Promise<T> {
  let underWay: Promise<unknown> = Promise.resolve();
  let lastBegan = Number.NEGATIVE_INFINITY;
  let pending: Promise<T> | undefined;

  const begin = async (): Promise<T> => {
    await underWay;
    const wait = lastBegan + gapMs - performance.now();
    if (wait > 1) await after(wait);
    else await endOfTurn(); // all the requests that this turn of the event loop brings share the read
    pending = undefined;
    lastBegan = performance.now();
    const reading = read();
    underWay = reading.catch(() => undefined);
    return reading;
  };
  return () => {
    pending ??= begin();
    return pending;
  };
}
