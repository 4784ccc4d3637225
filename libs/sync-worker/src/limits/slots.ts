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
 * one of the slots for slow entries, of which there are half as many, and frees its own. While all of these are taken, it keeps its slot and
 * moves as soon as one is free. The scheduler, which learns of slow lanes, keeps all of them together within half of the slots.
 */
export class Slots {
  readonly #limits: { prompt: number; slow: number };
  #prompt = 0;
  #slow = 0;
  readonly #waiting: (() => void)[] = [];
  /** Moves slow entries that still hold a prompt slot, the one that has waited longest first. */
  readonly #overdue = new Set<() => void>();

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
    const move = () => {
      isSlow = true;
      this.#slow += 1;
      this.#freePrompt();
    };
    const timer = setTimeout(() => {
      onSlow?.();
      if (this.#slow < this.#limits.slow) move();
      else this.#overdue.add(move);
    }, slowAfterMs);
    return {
      whenSlow: (callback) => {
        onSlow = callback;
      },
      release: () => {
        clearTimeout(timer);
        this.#overdue.delete(move);
        if (isSlow) this.#freeSlow();
        else this.#freePrompt();
      },
    };
  }

  #freeSlow(): void {
    this.#slow -= 1;
    const [move] = this.#overdue;
    if (move === undefined) return;
    this.#overdue.delete(move);
    move();
  }

  /** Hands the slot to the entry that has waited longest. */
  #freePrompt(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) next();
    else this.#prompt -= 1;
  }
}
