import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@secrets/domain';
import { LRUCache } from 'lru-cache';

/** What a key has used. */
interface Lane {
  /** Milliseconds that it has computed beyond its share, at the time `at`. */
  debt: number;
  at: number;
  running: number;
  waiting: number;
  /** Ends when the last one that waits may begin. */
  tail: Promise<void>;
}

/** Part of the time that one key may compute; it may compute for `burstMs` at once. */
const share = 0.05;
const burstMs = 500;
/** Limits what is held in memory for one key. */
const maxRunning = 4;
const maxWaiting = 500;
const maxWaitMs = 5_000;

/**
 * Divides the time of this process: work that blocks the event loop waits, first come, first served, if its key has used up its share. What
 * one namespace makes this process compute therefore delays requests of others by a twentieth at most. What counts is the CPU time of this
 * thread: when other processes keep the cores busy, the same work of a namespace is not refused sooner.
 */
export class TimeShares {
  readonly #lanes = new LRUCache<string, Lane>({ max: 20_000 });

  /**
   * Runs `work` when its key may use time. The time that `timed` takes counts.
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

  #laneOf(key: string): Lane {
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = { debt: 0, at: performance.now(), running: 0, waiting: 0, tail: Promise.resolve() };
      this.#lanes.set(key, lane);
    }
    return lane;
  }

  async #begin(lane: Lane): Promise<void> {
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

const isFree = (lane: Lane): boolean => lane.running < maxRunning && delayOf(lane) === 0;

/** Milliseconds until it may use time again. */
const delayOf = (lane: Lane): number => Math.max(0, debtOf(lane) - burstMs) / share;

const debtOf = ({ debt, at }: Lane): number => Math.max(0, debt - (performance.now() - at) * share);

function timed<R>(lane: Lane, compute: () => R): R {
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
    'the policies of this namespace change or differ faster than they can be evaluated',
    { retryAfterSeconds: Math.max(1, Math.ceil(delayMs / 1_000)) },
  );
