const RealDate = Date;

/**
 * Shifts the calendar clock of this process by the milliseconds that `offsetMs` returns at each use. Timers and
 * `performance.now` are not affected, as with a clock that an operator or NTP sets. Returns a function that undoes it.
 */
export function shiftClock(offsetMs: () => number): () => void {
  const now = () => RealDate.now() + offsetMs();
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
    get: (target, key, receiver) => (key === 'now' ? now : Reflect.get(target, key, receiver)),
  });
  return () => {
    globalThis.Date = RealDate;
  };
}
