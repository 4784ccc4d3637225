import { Problem } from '@secrets/domain';

/** Works that wait for one key, and for all keys together. */
const maxWaitingOfKey = 8;
const maxWaiting = 128;

/**
 * Runs one work at a time. Keys take turns, so that a work waits for at most one of each other key, however many of those wait.
 */
export class FairQueue {
  readonly #waiting = new Map<string, (() => void)[]>();
  #count = 0;
  #isRunning = false;

  /** @throws a problem (`rate_limited`) if too many works wait */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#isRunning) await this.#turnOf(key);
    this.#isRunning = true;
    try {
      return await work();
    } finally {
      this.#startNext();
    }
  }

  #turnOf(key: string): Promise<void> {
    const queue = this.#waiting.get(key) ?? [];
    if (queue.length >= maxWaitingOfKey || this.#count >= maxWaiting)
      throw new Problem('rate_limited', 'too many policies are being written', { retryAfterSeconds: 1 });
    this.#waiting.set(key, queue);
    this.#count += 1;
    return new Promise((resolve) => queue.push(resolve));
  }

  /** Starts the first work of the key that has waited longest for its turn; the key then waits behind the others. */
  #startNext(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#isRunning = false;
      return;
    }
    const [key, queue] = first;
    const start = queue.shift();
    this.#waiting.delete(key);
    if (queue.length > 0) this.#waiting.set(key, queue);
    this.#count -= 1;
    start?.();
  }
}
