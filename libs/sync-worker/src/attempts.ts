/** The attempts under way, each with a signal that ends it: after its own time, or all of them at once. */
export class Attempts {
  readonly #running = new Set<AbortController>();
  #areGivenUp = false;

  /** Whether all were ended at once; an attempt that begins afterwards is over at once. */
  get areGivenUp(): boolean {
    return this.#areGivenUp;
  }

  /** Runs `work` with a signal that is aborted after `limitMs`, or as soon as all attempts are given up. */
  async run<T>(limitMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const attempt = new AbortController();
    if (this.#areGivenUp) attempt.abort();
    const timer = setTimeout(() => attempt.abort(), limitMs);
    this.#running.add(attempt);
    try {
      return await work(attempt.signal);
    } finally {
      clearTimeout(timer);
      this.#running.delete(attempt);
    }
  }

  giveUp(): void {
    this.#areGivenUp = true;
    for (const attempt of this.#running) attempt.abort();
  }
}
