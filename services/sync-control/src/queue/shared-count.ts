/** A slow count that concurrent callers share. */
interface SharedCount {
  /** Returns the count in progress, or starts one. It may have begun before this call. */
  current(limit: number): Promise<number>;
  /** Returns a count that begins after this call. Calls that wait for the one in progress share the following one. */
  next(limit: number): Promise<number>;
}

/** Runs `count` once at a time for each limit. */
export function sharedCount(count: (limit: number) => Promise<number>): SharedCount {
  const running = new Map<number, Promise<number>>();
  const following = new Map<number, Promise<number>>();
  const start = (limit: number): Promise<number> => {
    const counting = count(limit).finally(() => running.delete(limit));
    running.set(limit, counting);
    return counting;
  };
  const current = (limit: number) => running.get(limit) ?? start(limit);
  const startAfter = async (before: Promise<number>, limit: number) => {
    await before.catch(() => undefined); // reported to those who asked for it
    following.delete(limit);
    return current(limit);
  };
  const next = (limit: number) => {
    const before = running.get(limit);
    if (before === undefined) return start(limit);
    const known = following.get(limit) ?? startAfter(before, limit);
    following.set(limit, known);
    return known;
  };
  return { current, next };
}
