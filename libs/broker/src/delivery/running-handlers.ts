/** Counts the handlers of one consumer that are running: to limit how many start, and to wait until none is left. */
export class RunningHandlers {
  readonly #concurrency: number;
  readonly #running = new Set<Promise<void>>();

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  get count(): number {
    return this.#running.size;
  }

  hasRoom(): boolean {
    return this.#running.size < this.#concurrency;
  }

  /** Runs `work`, which must not reject. Resolves when it has ended and no longer counts. */
  async start(work: () => Promise<void>): Promise<void> {
    const running = work();
    this.#running.add(running);
    await running;
    this.#running.delete(running);
  }

  /** Resolves when no handler is running. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
