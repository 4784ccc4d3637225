/** For how long a read may still show a removed secret, and how many are remembered. */
const validMs = 600_000;
const maxRemembered = 1_000;

interface Removal {
  /** When the provider removed it, by its own clock. */
  at: string;
  untilMs: number;
}

/** The secrets that this client has removed lately: reads and lists may still show them. */
export class RemovedSecrets {
  readonly #removals = new Map<string, Removal>();

  /** Number of removed secrets that a list may still count. */
  get count(): number {
    this.#forgetOld();
    return this.#removals.size;
  }

  add(name: string, at: string | null): void {
    if (at === null) return;
    this.#removals.delete(name);
    this.#removals.set(name, { at, untilMs: Date.now() + validMs });
    this.#forgetOld();
  }

  /** Whether a secret that was last changed at this time is the removed one: it was changed before the removal. */
  includes(name: string, updatedAt: string): boolean {
    this.#forgetOld();
    const removal = this.#removals.get(name);
    return removal !== undefined && Date.parse(updatedAt) < Date.parse(removal.at);
  }

  /** The map is in the order of the removals. */
  #forgetOld(): void {
    for (const [name, { untilMs }] of this.#removals) {
      if (untilMs > Date.now() && this.#removals.size <= maxRemembered) return;
      this.#removals.delete(name);
    }
  }
}
