import { setImmediate as endOfTurn } from 'node:timers/promises';

/**
 * Shares one read among all who ask while it waits its turn, and gives nobody an answer older than the question: who
 * asks while a read is under way waits for the next one. So there is at most one at a time, however many ask. A read
 * that fails, fails for those who waited for it.
 */
export function sharedRead<T>(read: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<unknown> = Promise.resolve();
  let gathering: Promise<T> | undefined;

  const begin = async (): Promise<T> => {
    await underWay;
    await endOfTurn(); // all the requests that this turn of the event loop brings share the read
    gathering = undefined;
    const reading = read();
    underWay = reading.catch(() => undefined);
    return reading;
  };
  return () => {
    gathering ??= begin();
    return gathering;
  };
}
