/** A place that one entry holds while it is worked on. */
export interface Place {
  leave(): void;
}

type Waiter = (place: Place | undefined) => void;

/** How long an entry waits in memory for a place; a destination that lets nobody in for so long is slow. */
const patienceMs = 500;

/**
 * Shares a worker's places among its destinations: one that is slow takes at most three quarters of them, so that there is
 * always room for the others. Entries of one that is not slow wait here for their turn, which is near; those of a slow
 * one are turned away at once, since whoever waits here keeps others out.
 */
export class Places {
  readonly #perDestination: number;
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Map<string, Set<Waiter>>();
  readonly #slow = new Set<string>();
  readonly #turnedAway = new Map<string, number>();

  constructor(concurrency: number) {
    this.#perDestination = Math.max(1, Math.floor(concurrency * 0.75));
  }

  /** A place for this destination, to be left again; undefined when it holds its share, and is slow. */
  async take(destinationId: string): Promise<Place | undefined> {
    const taken = this.#taken.get(destinationId) ?? 0;
    if (taken < this.#perDestination) {
      this.#taken.set(destinationId, taken + 1);
      return this.#place(destinationId);
    }
    const place = this.#slow.has(destinationId) ? undefined : await this.#wait(destinationId);
    if (place === undefined)
      this.#turnedAway.set(destinationId, (this.#turnedAway.get(destinationId) ?? 0) + 1);
    return place;
  }

  /**
   * How long one that was turned away should wait: longer the more were, so that a long queue before a slow
   * destination does not go round and round. Seconds, at most 30.
   */
  waitSeconds(destinationId: string): number {
    const turnedAway = this.#turnedAway.get(destinationId) ?? 0;
    return Math.min(30, 0.05 + turnedAway / (this.#perDestination * 20));
  }

  #place(destinationId: string): Place {
    const since = performance.now();
    return {
      leave: () => {
        if (performance.now() - since < patienceMs) this.#slow.delete(destinationId);
        this.#leave(destinationId);
      },
    };
  }

  #wait(destinationId: string): Promise<Place | undefined> {
    const waiting = this.#waiting.get(destinationId) ?? new Set();
    this.#waiting.set(destinationId, waiting);
    return new Promise((resolve) => {
      const waiter: Waiter = (place) => {
        clearTimeout(timer);
        waiting.delete(waiter);
        if (waiting.size === 0) this.#waiting.delete(destinationId);
        resolve(place);
      };
      const timer = setTimeout(() => {
        this.#slow.add(destinationId);
        waiter(undefined);
      }, patienceMs);
      waiting.add(waiter);
    });
  }

  #leave(destinationId: string): void {
    this.#forgetTurnedAway(destinationId);
    const [next] = this.#waiting.get(destinationId) ?? [];
    if (next !== undefined) next(this.#place(destinationId));
    else this.#giveBack(destinationId);
  }

  #giveBack(destinationId: string): void {
    const left = (this.#taken.get(destinationId) ?? 1) - 1;
    if (left > 0) {
      this.#taken.set(destinationId, left);
      return;
    }
    this.#taken.delete(destinationId);
    this.#slow.delete(destinationId);
  }

  #forgetTurnedAway(destinationId: string): void {
    const turnedAway = (this.#turnedAway.get(destinationId) ?? 0) - 1;
    if (turnedAway > 0) this.#turnedAway.set(destinationId, turnedAway);
    else this.#turnedAway.delete(destinationId);
  }
}
