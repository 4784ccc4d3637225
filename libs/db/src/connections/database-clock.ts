/** A statement that returns the time of the server. Not now(), which is when a transaction began. */
export const readTime = 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now';

/** After a step of the clock of the server, statements find out within this time. */
const maxAgeMs = 1_000;

/**
 * The clock of a server as this process knows it: its offset from a clock that is never set. It is measured with each new
 * connection, which may lead to another server, and at most once a second by statements.
 */
export class DatabaseClock {
  #offsetMs: number | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;

  /** Returns milliseconds since 1970; by the clock of this process as long as the one of the server is not known. */
  readonly now = (): number =>
    this.#offsetMs === undefined ? Date.now() : Math.floor(performance.now() + this.#offsetMs);

  get isDue(): boolean {
    return performance.now() - this.#askedAt >= maxAgeMs;
  }

  /** Takes the time that the server returns for the one half-way between question and answer. */
  async measure(ask: () => Promise<{ now: number } | undefined>): Promise<void> {
    const askedAt = performance.now();
    this.#askedAt = askedAt;
    const answer = await ask();
    if (answer !== undefined) this.#offsetMs = answer.now - (askedAt + performance.now()) / 2;
  }
}
