import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Prevents code inside a transaction from using the outer `Db`, which would wait for a second connection while holding the first.
 * Each `Db` has a guard of its own, so that two databases do not affect each other.
 */
export class TransactionGuard {
  readonly #inside = new AsyncLocalStorage<true>();

  run<T>(work: () => Promise<T>): Promise<T> {
    this.assertOutside();
    return this.#inside.run(true, work);
  }

  assertOutside(): void {
    if (this.#inside.getStore()) throw new Error('inside a transaction, only its own handle may be used');
  }
}
