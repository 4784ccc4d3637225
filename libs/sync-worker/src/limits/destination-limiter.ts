/** One unit of a worker's concurrency, held by one entry while it is processed. */
export interface Slot {
  release(): void;
}

type Waiter = (slot: Slot | undefined) => void;

/** How long an entry waits in memory for a slot. A destination that frees none in that time is slow. */
const maxWaitMs = 500;

/**
 * A bulkhead: limits each destination to three quarters of the worker's slots, so that a slow one never blocks the
 * others. At the limit, entries of a fast destination wait here for a slot. Entries of a slow one are rejected at once,
 * because an entry that waits here holds a message of the consumer's concurrency.
 */
export class DestinationLimiter {
  readonly #perDestination: number;
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Map<string, Set<Waiter>>();
  readonly #slow = new Set<string>();
  readonly #rejected = new Map<string, number>();

  constructor(concurrency: number) {
    this.#perDestination = Math.max(1, Math.floor(concurrency * 0.75));
  }

  /** Returns a slot, which must be released; undefined if the destination is slow and at its limit. */
  async acquire(destinationId: string): Promise<Slot | undefined> {
    const taken = this.#taken.get(destinationId) ?? 0;
    if (taken < this.#perDestination) {
      this.#taken.set(destinationId, taken + 1);
      return this.#slot(destinationId);
    }
    const slot = this.#slow.has(destinationId) ? undefined : await this.#wait(destinationId);
    if (slot === undefined) this.#rejected.set(destinationId, (this.#rejected.get(destinationId) ?? 0) + 1);
    return slot;
  }

  /**
   * Returns how long a rejected entry should wait, in seconds, at most 30. The delay grows with the number of rejected
   * entries, so that a long queue of a slow destination is not redelivered over and over.
   */
  retryDelaySeconds(destinationId: string): number {
    const rejected = this.#rejected.get(destinationId) ?? 0;
    return Math.min(30, 0.05 + rejected / (this.#perDestination * 20));
  }

  #slot(destinationId: string): Slot {
    const since = performance.now();
    return {
      release: () => {
        if (performance.now() - since < maxWaitMs) this.#slow.delete(destinationId);
        this.#release(destinationId);
      },
    };
  }

  #wait(destinationId: string): Promise<Slot | undefined> {
    const waiting = this.#waiting.get(destinationId) ?? new Set();
    this.#waiting.set(destinationId, waiting);
    return new Promise((resolve) => {
      const waiter: Waiter = (slot) => {
        clearTimeout(timer);
        waiting.delete(waiter);
        if (waiting.size === 0) this.#waiting.delete(destinationId);
        resolve(slot);
      };
      const timer = setTimeout(() => {
        this.#slow.add(destinationId);
        waiter(undefined);
      }, maxWaitMs);
      waiting.add(waiter);
    });
  }

  #release(destinationId: string): void {
    this.#forgetRejected(destinationId);
    const [next] = this.#waiting.get(destinationId) ?? [];
    if (next !== undefined) next(this.#slot(destinationId));
    else this.#free(destinationId);
  }

  #free(destinationId: string): void {
    const left = (this.#taken.get(destinationId) ?? 1) - 1;
    if (left > 0) {
      this.#taken.set(destinationId, left);
      return;
    }
    this.#taken.delete(destinationId);
    this.#slow.delete(destinationId);
  }

  #forgetRejected(destinationId: string): void {
    const rejected = (this.#rejected.get(destinationId) ?? 0) - 1;
    if (rejected > 0) this.#rejected.set(destinationId, rejected);
    else this.#rejected.delete(destinationId);
  }
}
