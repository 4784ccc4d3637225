import { Problem } from '@secrets/domain';

/** Counts the work that runs for each auth mount: anybody can ask for it, but those who are asked have more to do. */
export class Outstanding {
  readonly #max: number;
  readonly #excess: string;
  readonly #byMount = new Map<string, number>();

  /** @param excess the message of the problem if more than `max` run */
  constructor(max: number, excess: string) {
    this.#max = max;
    this.#excess = excess;
  }

  /** Throws `unavailable` if too much work of the mount runs. */
  async run<T>(mountId: string, work: () => Promise<T>): Promise<T> {
    const before = this.#byMount.get(mountId) ?? 0;
    if (before >= this.#max) throw new Problem('unavailable', this.#excess, { retryAfterSeconds: 1 });
    this.#byMount.set(mountId, before + 1);
    try {
      return await work();
    } finally {
      const left = this.#byMount.get(mountId)! - 1;
      if (left === 0) this.#byMount.delete(mountId);
      else this.#byMount.set(mountId, left);
    }
  }
}
