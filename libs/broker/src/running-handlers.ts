/** Counts the handlers at work, so that they are never more than allowed and the last one's end can be awaited. */
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

  /** Runs `work`, which must not reject, and resolves when it has ended and was counted off. */
  async start(work: () => Promise<void>): Promise<void> {
    const running = work();
    this.#running.add(running);
    await running;
    this.#running.delete(running);
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
