/** One unit of a worker's concurrency, held by one entry while it is worked on. */
export interface Slot {
  /** Calls back if the slot is still held after a second. */
  whenSlow(callback: () => void): void;
  release(): void;
}

/** An entry that is worked on for longer than this is slow. */
const slowAfterMs = 1_000;

/**
 * A bulkhead. A worker has `concurrency` slots for entries that are worked on promptly. An entry that takes longer than a second moves to
 * one of the slots for slow entries, of which there are half as many, and frees its own: stores that do not answer never hold more than that,
 * whatever their number, and the others go on.
 */
export class Slots {
  readonly #limits: { prompt: number; slow: number };
  #prompt = 0;
  #slow = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(concurrency: number) {
    this.#limits = { prompt: concurrency, slow: Math.max(1, Math.floor(concurrency / 2)) };
  }

  /** How many entries can be held at once: so many messages may be delivered to the worker. */
  get capacity(): number {
    return this.#limits.prompt + this.#limits.slow;
  }

  /** Resolves when a slot is free. */
  async acquire(): Promise<Slot> {
    if (this.#prompt >= this.#limits.prompt)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#prompt += 1;
    return this.#slot();
  }

  #slot(): Slot {
    let isSlow = false;
    let onSlow: (() => void) | undefined;
    const timer = setTimeout(() => {
      onSlow?.();
      if (this.#slow >= this.#limits.slow) return;
      isSlow = true;
      this.#slow += 1;
      this.#freePrompt();
    }, slowAfterMs);
    return {
      whenSlow: (callback) => {
        onSlow = callback;
      },
      release: () => {
        clearTimeout(timer);
        if (isSlow) this.#slow -= 1;
        else this.#freePrompt();
      },
    };
  }

  /** Hands the slot to the entry that has waited longest. */
  #freePrompt(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) next();
    else this.#prompt -= 1;
  }
}
