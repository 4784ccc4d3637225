import type { Db } from '@secrets/db';
import { Problem } from '@secrets/domain';
import { countPending, readSyncConfig } from '@secrets/sync-entries';
import { sharedCount } from './shared-count.ts';

/** Keeps the number of pending operations within `queue_capacity`. */
export interface QueueRoom {
  /**
   * Returns the problem `queue_full` if this many further operations do not fit. A caller that turns out to add none may
   * ignore it.
   */
  whyFull(operations: number): Promise<Problem | undefined>;
  /**
   * Returns the number of pending operations, counted up to `queue_capacity`. Above a capacity of 10,000, it is at most
   * a second old.
   */
  countPending(queueCapacity: number): Promise<number>;
}

/** Up to this capacity, every request waits for a count that began after it; above it, an estimate is used. */
const exactUpTo = 10_000;
/** An estimate older than this is refreshed in the background, and never leads to a refusal. */
const freshMs = 1_000;
/** Maximum age of an estimate in milliseconds. */
const usableMs = 10_000;

interface Estimate {
  capacity: number;
  pending: number;
  at: number;
}

/**
 * Counts what is pending in the database, one count at a time. Above a capacity of 10,000, the count is at most ten
 * seconds old, plus what this process has admitted since.
 */
export function queueRoom(db: Db, now: () => number = () => performance.now()): QueueRoom {
  const count = sharedCount((capacity: number) => countPending(db, capacity));
  let estimate: Estimate = { capacity: -1, pending: 0, at: 0 };
  let counted = 0; // what `estimate` began with
  let admitted = 0;

  const refresh = async (capacity: number): Promise<void> => {
    const admittedBefore = admitted;
    counted = await count.current(capacity);
    estimate = { capacity, pending: counted + admitted - admittedBefore, at: now() };
  };
  const isYounger = (capacity: number, ms: number) =>
    estimate.capacity === capacity && now() - estimate.at <= ms;
  const fitsEstimate = async (capacity: number, operations: number): Promise<boolean> => {
    if (!isYounger(capacity, usableMs)) await refresh(capacity);
    else if (!isYounger(capacity, freshMs)) {
      const refreshing = refresh(capacity);
      if (estimate.pending + operations > capacity) await refreshing;
      else refreshing.catch(() => undefined); // the next request tries again
    }
    return estimate.pending + operations <= capacity;
  };
  const fits = async (capacity: number, operations: number): Promise<boolean> =>
    capacity <= exactUpTo
      ? (await count.next(capacity)) + operations <= capacity
      : fitsEstimate(capacity, operations);

  return {
    countPending: async (capacity) => {
      if (capacity <= exactUpTo) return count.next(capacity);
      if (!isYounger(capacity, freshMs)) await refresh(capacity);
      return counted;
    },
    whyFull: async (operations) => {
      const { queueCapacity } = await readSyncConfig(db);
      if (await fits(queueCapacity, operations)) {
        admitted += operations;
        estimate.pending += operations;
        return undefined;
      }
      const sentence = `the sync queue is full: queue_capacity is ${queueCapacity} pending operations`;
      return new Problem('queue_full', sentence, { retryAfterSeconds: 5 });
    },
  };
}
