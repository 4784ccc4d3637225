import { LRUCache } from 'lru-cache';
import type { BudgetStore } from './budget-store.ts';

/** Limit on the number of requests that a key may make. */
export interface RateLimit {
  /** Identifies what is limited, in every gateway. */
  key: string;
  /** Requests per interval, of all gateways together; a whole number of at least 1. */
  max: number;
  intervalMs: number;
  /** How long a key is refused after it has exceeded the limit; 0: until the end of the interval. */
  blockMs: number;
}

/** Divides the rate limit of a key among gateways. */
interface SharedBudget {
  /**
   * Takes one request out of the budget of a key. Returns 0 if it may be made, otherwise after how many milliseconds to
   * try again. In one gateway the limit is exact; with several, it is so within a tenth.
   */
  take(limit: RateLimit): Promise<number>;
}

/** The usage of one key in one interval, as known to this gateway. */
interface Interval {
  endsAt: number;
  used: number;
  /** Requests that this gateway has taken from the common budget; undefined before the first call of the store. */
  granted: number | undefined;
  /** Requests that were then left for all gateways. */
  left: number;
  asking: Promise<void> | undefined;
  waiting: number;
}

const maxKeys = 100_000;
/** With `max`, the cache would allocate 3 MiB in advance. */
const upToMaxKeys = { maxSize: maxKeys, sizeCalculation: () => 1 };
/** Minimum number of requests that are taken in advance. */
const minAhead = 4;

/**
 * A gateway makes a few requests of each interval without asking, and then takes a twentieth of the limit at a time,
 * before it needs it, and less when little is left. It thus asks about thirty times per interval for a key that uses
 * all of it, and never for one that uses little.
 */
export class LeasedBudget implements SharedBudget {
  readonly #store: BudgetStore;
  readonly #clock: () => number;
  readonly #intervals = new LRUCache<string, Interval>(upToMaxKeys);
  readonly #blocked = new LRUCache<string, number>(upToMaxKeys);

  constructor(store: BudgetStore, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  async take(limit: RateLimit): Promise<number> {
    for (;;) {
      const blockedMs = (this.#blocked.get(limit.key) ?? 0) - this.#clock();
      if (blockedMs > 0) return blockedMs;
      const interval = this.#currentInterval(limit);
      if (interval.used < (interval.granted ?? withoutAsking(limit.max))) {
        interval.used += 1;
        if (isAlmostUsed(interval, limit.max)) this.#ask(limit, interval).catch(() => undefined); // asked again when it is needed
        return 0;
      }
      if (interval.left === 0) return this.#refuse(limit, interval);
      interval.waiting += 1;
      await this.#ask(limit, interval).finally(() => {
        interval.waiting -= 1;
      });
    }
  }

  #currentInterval({ key, intervalMs, max }: RateLimit): Interval {
    const endsAt = (Math.floor(this.#clock() / intervalMs) + 1) * intervalMs;
    let interval = this.#intervals.get(key);
    if (interval?.endsAt !== endsAt) {
      interval = { endsAt, used: 0, granted: undefined, left: max, asking: undefined, waiting: 0 };
      this.#intervals.set(key, interval);
    }
    return interval;
  }

  #ask(limit: RateLimit, interval: Interval): Promise<void> {
    interval.asking ??= this.#askStore(limit, interval).finally(() => {
      interval.asking = undefined;
    });
    return interval.asking;
  }

  async #askStore({ key, max }: RateLimit, interval: Interval): Promise<void> {
    const unreported = Math.max(0, interval.used - (interval.granted ?? 0));
    const want = Math.min(max, unreported + Math.max(portion(max, interval.left), interval.waiting));
    const { taken, blockedUntil } = await this.#store.ask({ key, endsAt: interval.endsAt, want });
    interval.granted = (interval.granted ?? 0) + Math.max(0, want - Math.max(0, taken - max));
    interval.left = Math.max(0, max - taken);
    if (blockedUntil > this.#clock()) this.#blocked.set(key, blockedUntil);
  }

  async #refuse({ key, blockMs }: RateLimit, { endsAt }: Interval): Promise<number> {
    if (blockMs === 0) return Math.max(1, endsAt - this.#clock());
    const until = this.#clock() + blockMs;
    this.#blocked.set(key, until);
    await this.#store.block(key, until);
    return blockMs;
  }
}

/** Returns the number of requests that a gateway allows in an interval before it asks the store. */
const withoutAsking = (max: number): number => (max < 10 ? 0 : Math.max(1, Math.floor(max / 20)));

const portion = (max: number, left: number): number =>
  Math.max(1, Math.min(Math.ceil(max / 20), Math.floor(left / 4)));

function isAlmostUsed({ used, granted, left }: Interval, max: number): boolean {
  if (left === 0) return false;
  if (granted === undefined) return used === withoutAsking(max);
  const next = portion(max, left);
  return next >= minAhead && granted - used <= next / 2; // less may never be used here, and would be missing elsewhere
}
