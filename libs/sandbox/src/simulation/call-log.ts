/** A logged call. Never contains a value, a signature or a token. */
export interface LoggedCall {
  at: string;
  store: string;
  operation: string;
  name?: string | undefined;
  region?: string | undefined;
  caller?: string | undefined;
  /** Names of the parameters in the request. */
  sent: readonly string[];
  /** The HTTP status, or how the connection ended. */
  outcome: number | 'silence' | 'reset' | 'lost' | 'abandoned';
  fault?: string | undefined;
}

const CAPACITY = 10_000;

/** Holds the newest 10,000 calls of one simulated service. */
export class CallLog {
  readonly #ring: LoggedCall[] = [];
  #total = 0;

  record(call: LoggedCall): void {
    this.#ring[this.#total % CAPACITY] = call;
    this.#total += 1;
  }

  /** Oldest first. */
  list(): LoggedCall[] {
    const start = this.#total > CAPACITY ? this.#total % CAPACITY : 0;
    return [...this.#ring.slice(start), ...this.#ring.slice(0, start)];
  }

  clear(): void {
    this.#ring.length = 0;
    this.#total = 0;
  }
}
