/** Calls `work` at a steady pace, whether or not earlier calls have ended. */
export function startPace(perSecond: number, work: () => Promise<unknown>) {
  const started = performance.now();
  const calls = new Set<Promise<void>>();
  let begun = 0;
  let failed = 0;
  const begin = () => {
    if (calls.size >= perSecond) return; // as many as one second has
    begun += 1;
    const call = work()
      .then(() => undefined)
      .catch(() => {
        failed += 1;
      })
      .finally(() => calls.delete(call));
    calls.add(call);
  };
  const timer = setInterval(begin, 1_000 / perSecond);
  return {
    stop: async () => {
      clearInterval(timer);
      const reached = (begun * 1_000) / (performance.now() - started);
      await Promise.all(calls);
      return { perSecond: reached, failed };
    },
  };
}
