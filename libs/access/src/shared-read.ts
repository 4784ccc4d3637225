/**
 * Shares one read among all who ask while it waits its turn, and gives nobody an answer older than the question: who
 * asks while a read is under way waits for the next one. So there is at most one at a time, however many ask. A read
 * that fails, fails for those who waited for it.
 */
export function sharedRead<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;

  const begin = (): Promise<T> => {
    const begun = read();
    running = begun;
    next = undefined;
    const ended = () => {
      if (next === undefined) running = undefined; // otherwise the next one begins right after this
    };
    begun.then(ended, ended);
    return begun;
  };
  return () => {
    if (running === undefined) return begin();
    next ??= running.then(begin, begin);
    return next;
  };
}
