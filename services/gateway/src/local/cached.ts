/** Caches the result of `load`. Concurrent callers share one call; a failure is not cached. */
export function cached<T>(milliseconds: number, load: () => Promise<T>): () => Promise<T> {
  let cache: { value: Promise<T>; until: number } | undefined;
  return () => {
    if (cache !== undefined && performance.now() < cache.until) return cache.value;
    const entry = { value: load(), until: Number.POSITIVE_INFINITY };
    cache = entry;
    entry.value.then(
      () => {
        entry.until = performance.now() + milliseconds;
      },
      () => {
        entry.until = 0;
      },
    );
    return entry.value;
  };
}
