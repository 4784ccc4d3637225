/**
 * Shares a worker's places among its destinations: one that is slow takes at most half of them, so that there is
 * always room for the others.
 */
export class Places {
  readonly #perDestination: number;
  readonly #taken = new Map<string, number>();
  readonly #turnedAway = new Map<string, number>();

  constructor(concurrency: number) {
    this.#perDestination = Math.max(1, Math.ceil(concurrency / 2));
  }

  /** A place for this destination, to be left again; undefined when it holds its share already. */
  take(destinationId: string): { leave(): void } | undefined {
    const taken = this.#taken.get(destinationId) ?? 0;
    if (taken >= this.#perDestination) {
      this.#turnedAway.set(destinationId, (this.#turnedAway.get(destinationId) ?? 0) + 1);
      return undefined;
    }
    this.#taken.set(destinationId, taken + 1);
    return { leave: () => this.#leave(destinationId) };
  }

  /**
   * How long one that was turned away should wait: longer the more were, so that a long queue before a slow
   * destination does not go round and round. Seconds, at most 30.
   */
  waitSeconds(destinationId: string): number {
    const turnedAway = this.#turnedAway.get(destinationId) ?? 0;
    return Math.min(30, 0.05 + turnedAway / (this.#perDestination * 20));
  }

  #leave(destinationId: string): void {
    const left = (this.#taken.get(destinationId) ?? 1) - 1;
    if (left > 0) this.#taken.set(destinationId, left);
    else this.#taken.delete(destinationId);
    const turnedAway = (this.#turnedAway.get(destinationId) ?? 0) - 1;
    if (turnedAway > 0) this.#turnedAway.set(destinationId, turnedAway);
    else this.#turnedAway.delete(destinationId);
  }
}
