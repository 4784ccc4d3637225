/** One call as the sandbox remembers it: never a value, a signature or a token. */
export interface LoggedCall {
  at: string;
  store: string;
  operation: string;
  name?: string | undefined;
  region?: string | undefined;
  caller?: string | undefined;
  /** Names of the parameters that were sent. */
  sent: readonly string[];
  /** What came of it: an HTTP status, or how the connection ended. */
  outcome: number | 'silence' | 'reset' | 'lost' | 'abandoned';
  fault?: string | undefined;
}

const CAPACITY = 10_000;

/** The newest 10,000 calls of one simulated service, and how many there have ever been. */
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

  /** Calls since the start or the last reset, the forgotten ones included. */
  get total(): number {
    return this.#total;
  }

  clear(): void {
    this.#ring.length = 0;
    this.#total = 0;
  }
}
