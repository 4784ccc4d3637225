/** The attempts in progress. Each has a signal that aborts at its time limit, or when all attempts are cancelled. */
export class Attempts {
  readonly #limitMs: number;
  readonly #running = new Set<AbortController>();
  #isCancelled = false;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** Whether `cancelAll` was called. An attempt that begins afterwards is cancelled immediately. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** Returns whether the time limit of an attempt has passed that began at `startedAt`, a time of `performance.now`. */
  isOver(startedAt: number): boolean {
    return this.#leftMs(startedAt) <= 0;
  }

  /**
   * Returns whether half of the time of an attempt has passed since `startedAt`, a time of `performance.now`. After such a
   * wait, a call might be cut off, and look like one of a destination that does not respond.
   */
  isHalfOver(startedAt: number): boolean {
    return this.#leftMs(startedAt) <= this.#limitMs / 2;
  }

  /**
   * Runs `work` with a signal that aborts at the time limit, or when all attempts are cancelled. The limit counts from
   * `startedAt`, a time of `performance.now`.
   */
  async run<T>(startedAt: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const attempt = new AbortController();
    if (this.#isCancelled) attempt.abort();
    const timer = setTimeout(() => attempt.abort(), this.#leftMs(startedAt));
    this.#running.add(attempt);
    try {
      return await work(attempt.signal);
    } finally {
      clearTimeout(timer);
      this.#running.delete(attempt);
    }
  }

  /** Aborts every attempt in progress, and those that begin later. */
  cancelAll(): void {
    this.#isCancelled = true;
    for (const attempt of this.#running) attempt.abort();
  }

  #leftMs(startedAt: number): number {
    return startedAt + this.#limitMs - performance.now();
  }
}
