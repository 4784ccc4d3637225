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

  /** Runs `work` with a signal that aborts at the time limit, or when all attempts are cancelled. */
  async run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const attempt = new AbortController();
    if (this.#isCancelled) attempt.abort();
    const timer = setTimeout(() => attempt.abort(), this.#limitMs);
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
}
