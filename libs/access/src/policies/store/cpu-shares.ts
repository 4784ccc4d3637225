import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@secrets/domain';
import { LRUCache } from 'lru-cache';

/** CPU time used and work queued by one key. */
interface CpuUsage {
  /** CPU milliseconds used beyond its share, as of `at`. */
  debt: number;
  at: number;
  running: number;
  waiting: number;
  /** Settles when the last queued work may begin. */
  tail: Promise<void>;
}

/** Part of the CPU time that one key may use; it may use `burstMs` at once. */
const share = 0.05;
const burstMs = 500;
/** Limits what is held in memory for one key. */
const maxRunning = 4;
const maxWaiting = 500;
/** Number of comparisons that cost less than the rest of a request; they are not counted. */
const freeSteps = 5_000;
const maxWaitMs = 5_000;

/**
 * Limits the CPU time of each key: work that blocks the event loop waits, in order of arrival, once its key has used up its
 * share. The policies of one namespace therefore delay the requests of others by a twentieth at most. The CPU time of this thread
 * is counted, so that load from other processes does not lead to refusals.
 */
export class CpuShares {
  readonly #lanes = new LRUCache<string, CpuUsage>({ max: 20_000 });

  /**
   * Runs `work` once its key may use CPU time. The calls of `timed` are counted.
   * @throws a problem (`rate_limited`) if it would have to wait for too long
   */
  async run<T>(key: string, work: (timed: <R>(compute: () => R) => R) => Promise<T>): Promise<T> {
    const lane = this.#laneOf(key);
    if (lane.waiting >= maxWaiting || delayOf(lane) > maxWaitMs) throw overloaded(delayOf(lane));
    await this.#begin(lane);
    try {
      return await work((compute) => timed(lane, compute));
    } finally {
      lane.running -= 1;
    }
  }

  /**
   * Makes a decision with policies. Counts it only if it takes many comparisons: for others, counting would cost more.
   * @throws a problem (`rate_limited`) if it would have to wait for too long
   */
  async decide<R>(key: string, { maxSteps }: { maxSteps: number }, decide: () => R): Promise<R> {
    return maxSteps <= freeSteps ? decide() : this.run(key, async (timed) => timed(decide));
  }

  #laneOf(key: string): CpuUsage {
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = { debt: 0, at: performance.now(), running: 0, waiting: 0, tail: Promise.resolve() };
      this.#lanes.set(key, lane);
    }
    return lane;
  }

  async #begin(lane: CpuUsage): Promise<void> {
    if (lane.waiting > 0 || !isFree(lane)) {
      lane.waiting += 1;
      lane.tail = lane.tail.then(async () => {
        while (!isFree(lane)) await sleep(Math.max(1, delayOf(lane)));
        lane.waiting -= 1;
        lane.running += 1;
      });
      await lane.tail;
    } else lane.running += 1;
  }
}

const isFree = (lane: CpuUsage): boolean => lane.running < maxRunning && delayOf(lane) === 0;

/** Milliseconds until the key may use CPU time again. */
const delayOf = (lane: CpuUsage): number => Math.max(0, debtOf(lane) - burstMs) / share;

const debtOf = ({ debt, at }: CpuUsage): number => Math.max(0, debt - (performance.now() - at) * share);

function timed<R>(lane: CpuUsage, compute: () => R): R {
  const before = process.threadCpuUsage();
  try {
    return compute();
  } finally {
    const { user, system } = process.threadCpuUsage(before); // µs
    lane.debt = debtOf(lane) + (user + system) / 1_000;
    lane.at = performance.now();
  }
}

const overloaded = (delayMs: number) =>
  new Problem(
    'rate_limited',
    'the policies of this namespace take more time than it has; make them smaller, or change them less often',
    { retryAfterSeconds: Math.max(1, Math.ceil(delayMs / 1_000)) },
  );
