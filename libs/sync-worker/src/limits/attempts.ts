/** The attempts under way. Each has a signal that aborts it: after its own time limit, or with all the others. */
export class Attempts {
  readonly #running = new Set<AbortController>();
  #isCancelled = false;

  /** Whether `cancelAll` was called. An attempt that begins afterwards is cancelled at once. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** Runs `work` with a signal that is aborted after `limitMs`, or when all attempts are cancelled. */
  async run<T>(limitMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const attempt = new AbortController();
    if (this.#isCancelled) attempt.abort();
    const timer = setTimeout(() => attempt.abort(), limitMs);
    this.#running.add(attempt);
    try {
      return await work(attempt.signal);
    } finally {
      clearTimeout(timer);
      this.#running.delete(attempt);
    }
  }

  cancelAll(): void {
    this.#isCancelled = true;
    for (const attempt of this.#running) attempt.abort();
  }
}
