/** Milliseconds for which a failure is known. */
const knownMs = 3_600_000;

/** The failures that are kept at most: those that were seen first are forgotten, and count as new again. */
const maxKnown = 10_000;

/**
 * Failures of destinations that were seen within the last hour. What fails for many external secrets of a destination for the
 * same cause is so logged once, and not for each of them.
 */
export class KnownFailures {
  readonly #seenAtMs = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether the destination has not failed for this cause within the last hour, as far as is known. It has from now on. */
  isNew(destinationId: string, cause: string): boolean {
    const failure = `${destinationId} ${cause}`;
    const nowMs = this.#now();
    const seenAtMs = this.#seenAtMs.get(failure);
    if (seenAtMs !== undefined && nowMs - seenAtMs < knownMs) return false;
    this.#seenAtMs.delete(failure);
    const [first] = this.#seenAtMs.keys();
    if (this.#seenAtMs.size >= maxKnown) this.#seenAtMs.delete(first!);
    this.#seenAtMs.set(failure, nowMs);
    return true;
  }
}
