import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Keeps code inside a transaction from asking the outer `Db`: on one connection that waits for itself for ever.
 * Each `Db` has its own guard, so that two databases do not hinder each other.
 */
export class TransactionGuard {
  readonly #inside = new AsyncLocalStorage<true>();

  run<T>(work: () => Promise<T>): Promise<T> {
    this.assertOutside();
    return this.#inside.run(true, work);
  }

  /** For what a transaction sets going but does not wait for: it runs as if outside. */
  leave<T>(work: () => T): T {
    return this.#inside.exit(work);
  }

  assertOutside(): void {
    if (this.#inside.getStore()) throw new Error('inside a transaction only its own handle may be used');
  }
}
