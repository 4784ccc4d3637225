/** A call that a store has served, times in milliseconds since 1970. */
export interface ServedCall {
  store: string;
  operation: string;
  name: string;
  /** The process that made it; undefined if that is not known. */
  process: string | undefined;
  began: number;
  ended: number;
  /** Whether another call with this name was in progress when it arrived. */
  isConcurrent: boolean;
}

/** A time in which a process did not run, in milliseconds since 1970. */
export interface Standstill {
  process: string;
  from: number;
  to: number;
}

/** The part of a lease that is left when its attempt must have ended. */
const restOfLease = 0.4;
/** Time within which a process notices after a standstill that it has lost its lease. */
const noticeMs = 1_000;

/**
 * Returns each call that a store received for an external secret while another call for it was in progress. One case is
 * permitted, because the store cannot see who holds the lease: one of the two calls is of a worker that was stopped for
 * longer than the rest of its lease, and was made before it was stopped, or at once when it ran again.
 */
export function checkOverlaps(
  calls: readonly ServedCall[],
  standstills: readonly Standstill[],
  leaseMs: number,
): string[] {
  const long = standstills.filter(({ from, to }) => to - from >= leaseMs * restOfLease);
  const isOfStopped = ({ process, began, ended }: ServedCall) =>
    long.some(
      (one) =>
        (process === undefined || one.process === process) && ended >= one.from && began <= one.to + noticeMs,
    );
  const byName = Map.groupBy(calls, ({ store, name }) => `${store} ${name}`);
  return calls
    .filter(({ isConcurrent }) => isConcurrent)
    .flatMap((call) => {
      const same = byName.get(`${call.store} ${call.name}`) ?? [];
      const other = same.find((one) => one !== call && one.began <= call.began && one.ended >= call.began);
      return isOfStopped(call) || (other !== undefined && isOfStopped(other)) ? [] : [describe(call, other)];
    });
}

function describe(
  { store, operation, name, process, began }: ServedCall,
  other: ServedCall | undefined,
): string {
  const during = other === undefined ? 'another call' : `${other.operation} by ${other.process}`;
  const at = new Date(began).toISOString();
  return `${store} received ${operation} of ${name} by ${process} during ${during}, at ${at}`;
}
