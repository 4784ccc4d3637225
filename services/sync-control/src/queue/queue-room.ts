import type { Db } from '@secrets/db';
import { Problem } from '@secrets/domain';
import { countPending, readSyncConfig } from '@secrets/sync-entries';

/** Keeps the number of pending operations within `queue_capacity`. */
export interface QueueRoom {
  /**
   * Returns the problem `queue_full` if this many further operations do not fit. A caller that turns out to add none may
   * ignore it.
   */
  whyFull(operations: number): Promise<Problem | undefined>;
}

/** Up to this capacity, pending operations are counted for every request; above it, at most once a second. */
const exactUpTo = 10_000;
const estimateMs = 1_000;

/** Counts what is pending in the database. */
export function queueRoom(db: Db, now: () => number = Date.now): QueueRoom {
  let estimate = { pending: 0, capacity: -1, at: 0 };
  const pending = async (capacity: number): Promise<number> => {
    if (capacity <= exactUpTo) return countPending(db, capacity);
    if (estimate.capacity !== capacity || now() - estimate.at > estimateMs) {
      estimate = { pending: await countPending(db, capacity), capacity, at: now() };
    }
    return estimate.pending;
  };
  return {
    whyFull: async (operations) => {
      const { queueCapacity } = await readSyncConfig(db);
      if ((await pending(queueCapacity)) + operations <= queueCapacity) {
        estimate.pending += operations;
        return undefined;
      }
      const sentence = `the sync queue is full: queue_capacity is ${queueCapacity} pending operations`;
      return new Problem('queue_full', sentence, { retryAfterSeconds: 5 });
    },
  };
}
