interface Waiter {
  bytes: number;
  start(): void;
}

/**
 * Limits the total size of the large values that a worker has read at once. Values are admitted in the order of their requests,
 * so a large one is not overtaken forever. One that exceeds the limit is admitted alone.
 */
export class ValueMemory {
  readonly #maxBytes: number;
  readonly #waiting: Waiter[] = [];
  #usedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Resolves when a value of this size may be read, with a function that releases its memory. */
  async acquire(bytes: number): Promise<() => void> {
    if (this.#waiting.length > 0 || !this.#fits(bytes)) {
      await new Promise<void>((start) => this.#waiting.push({ bytes, start }));
    } else this.#usedBytes += bytes;
    let isHeld = true;
    return () => {
      if (isHeld) this.#release(bytes);
      isHeld = false;
    };
  }

  #release(bytes: number): void {
    this.#usedBytes -= bytes;
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined || !this.#fits(next.bytes)) return;
      this.#waiting.shift();
      this.#usedBytes += next.bytes;
      next.start();
    }
  }

  #fits(bytes: number): boolean {
    return this.#usedBytes === 0 || this.#usedBytes + bytes <= this.#maxBytes;
  }
}
