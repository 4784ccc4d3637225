/** One unit of a worker's concurrency, held by one entry while its destination is called. */
export interface Slot {
  /** Calls back if the slot is still held after a second. */
  whenSlow(callback: () => void): void;
  /** Has no effect if it was called before. */
  release(): void;
}

interface Waiter {
  destinationId: string;
  resolve(slot: Slot | undefined): void;
}

/** An entry that is worked on for longer than this is slow. */
const slowAfterMs = 1_000;

/**
 * A bulkhead. A worker has `concurrency` slots for entries that are worked on promptly. An entry that takes longer than a
 * second moves to one of the slots for slow entries, of which there are half as many, and frees its own. While all of these are
 * taken, it keeps its slot and moves as soon as one is free. A destination that alone has as many slow entries gets no further
 * slot: it has stopped responding, and its other entries must not wait here in front of those of healthy destinations. The
 * scheduler, which learns of slow lanes, keeps all of them together within half of the slots.
 */
export class Slots {
  readonly #limits: { prompt: number; slow: number };
  #prompt = 0;
  #slow = 0;
  #waiting: Waiter[] = [];
  /** Moves slow entries that still hold a prompt slot, the one that has waited longest first. */
  readonly #overdue = new Set<() => void>();
  /** Number of entries, and of slow ones, by destination. */
  readonly #heldBy = new Map<string, number>();
  readonly #slowOf = new Map<string, number>();

  constructor(concurrency: number) {
    this.#limits = { prompt: concurrency, slow: Math.max(1, Math.floor(concurrency / 2)) };
  }

  /**
   * Number of messages that RabbitMQ may deliver in advance: one for each slot, and as many again as there are prompt slots.
   * Their entries are claimed and read while calls are in progress, so that a slot is never free while an entry waits.
   */
  get prefetch(): number {
    return 2 * this.#limits.prompt + this.#limits.slow;
  }

  /** Number of slots for work that can wait: an eighth of them, and at least one if there are two, is left for other work. */
  get spare(): number {
    return Math.max(1, Math.floor(this.#limits.prompt * 0.875));
  }

  /** Resolves with a slot as soon as one is free, or with undefined if the destination has stopped responding. */
  async acquire(destinationId: string): Promise<Slot | undefined> {
    if (this.isStalled(destinationId)) return undefined;
    if (this.#prompt < this.#limits.prompt) {
      this.#prompt += 1;
      return this.#slot(destinationId);
    }
    return new Promise((resolve) => this.#waiting.push({ destinationId, resolve }));
  }

  /** Whether the destination has stopped responding: it gets no slot. */
  isStalled(destinationId: string): boolean {
    return (this.#slowOf.get(destinationId) ?? 0) >= this.#limits.slow;
  }

  #slot(destinationId: string): Slot {
    let state: 'prompt' | 'overdue' | 'slow' = 'prompt';
    add(this.#heldBy, destinationId, 1);
    let onSlow: (() => void) | undefined;
    const move = () => {
      state = 'slow';
      this.#slow += 1;
      this.#freePrompt();
    };
    const timer = setTimeout(() => {
      onSlow?.();
      this.#countSlow(destinationId, 1);
      state = 'overdue';
      if (this.#slow < this.#limits.slow) move();
      else this.#overdue.add(move);
    }, slowAfterMs);
    let isHeld = true;
    return {
      whenSlow: (callback) => {
        onSlow = callback;
      },
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        clearTimeout(timer);
        this.#overdue.delete(move);
        add(this.#heldBy, destinationId, -1);
        if (state !== 'prompt') this.#countSlow(destinationId, -1);
        if (state === 'slow') this.#freeSlow();
        else this.#freePrompt();
      },
    };
  }

  /**
   * Counts a slow entry of a destination. If the destination has stopped responding, none of its entries waits for a slot any
   * longer.
   */
  #countSlow(destinationId: string, change: 1 | -1): void {
    add(this.#slowOf, destinationId, change);
    if (!this.isStalled(destinationId)) return;
    const rejected = this.#waiting.filter((waiter) => waiter.destinationId === destinationId);
    this.#waiting = this.#waiting.filter((waiter) => waiter.destinationId !== destinationId);
    for (const { resolve } of rejected) resolve(undefined);
  }

  #freeSlow(): void {
    this.#slow -= 1;
    const [move] = this.#overdue;
    if (move === undefined) return;
    this.#overdue.delete(move);
    move();
  }

  /** Passes the slot to the destination that holds the fewest, and there to the entry that has waited longest. */
  #freePrompt(): void {
    const held = ({ destinationId }: Waiter) => this.#heldBy.get(destinationId) ?? 0;
    const next = this.#waiting.reduce<Waiter | undefined>(
      (best, waiter) => (best === undefined || held(waiter) < held(best) ? waiter : best),
      undefined,
    );
    if (next === undefined) {
      this.#prompt -= 1;
      return;
    }
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    next.resolve(this.#slot(next.destinationId));
  }
}

function add(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
