/** A call that a store has served, times in milliseconds since 1970. */
export interface ServedCall {
  store: string;
  operation: string;
  name: string;
  began: number;
  ended: number;
  /** Whether another call with this name was in progress when it arrived. */
  isConcurrent: boolean;
}

/** A time in which a worker of the store did not run. */
export interface WorkerStandstill {
  store: string;
  from: number;
  to: number;
}

/** An attempt ends after 60 % of its lease, so a shorter standstill does not outlive a lease. */
const harmlessShare = 0.4;

/**
 * Returns each call that a store received for an external secret while another call for it was in progress. The store cannot see who
 * holds the lease. So one case is permitted: a worker was stopped during a call for longer than its lease lasts after the time limit of an
 * attempt. It does not hang up meanwhile, and another worker takes over.
 */
export function checkOverlaps(
  calls: readonly ServedCall[],
  standstills: readonly WorkerStandstill[],
  leaseMs: number,
): string[] {
  const long = standstills.filter(({ from, to }) => to - from >= leaseMs * harmlessShare);
  return calls
    .filter(({ isConcurrent }) => isConcurrent)
    .filter(
      ({ store, began, ended }) =>
        !long.some((one) => one.store === store && one.from <= ended && one.to + leaseMs >= began),
    )
    .map(({ store, operation, name, began }) => {
      const other = calls.find(
        (one) => one.store === store && one.name === name && one.began < began && one.ended >= began,
      );
      const at = new Date(began).toISOString();
      return `${store} received ${operation} of ${name} during ${other?.operation ?? 'another call'} of it, at ${at}`;
    });
}
