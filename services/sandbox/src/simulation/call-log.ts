/** A logged call. Never contains a value, a signature or a token. */
export interface LoggedCall {
  /** When it arrived, as ISO 8601. */
  began: string;
  /** When it ended. */
  at: string;
  store: string;
  operation: string;
  name?: string | undefined;
  region?: string | undefined;
  caller?: string | undefined;
  /** The address that it came from. */
  peer?: string | undefined;
  /** Names of the parameters in the request. */
  sent: readonly string[];
  /** The HTTP status, or how the connection ended. */
  outcome: number | 'silence' | 'reset' | 'lost' | 'abandoned';
  fault?: string | undefined;
  /** How many other calls with this name were in progress when it arrived; absent if none. */
  concurrent?: number | undefined;
}

const CAPACITY = 10_000;

/** Holds the newest 10,000 calls of one simulated service. */
export class CallLog {
  readonly #ring: LoggedCall[] = [];
  readonly #inProgress = new Map<string, number>();
  #total = 0;

  /** Counts a call that arrives. Returns how many others with its name are in progress, and what to call when it ends. */
  begin(name: string | undefined): { concurrent: number | undefined; end(): void } {
    if (name === undefined) return { concurrent: undefined, end: () => undefined };
    const others = this.#inProgress.get(name) ?? 0;
    this.#inProgress.set(name, others + 1);
    const end = () => {
      const left = (this.#inProgress.get(name) ?? 1) - 1;
      if (left > 0) this.#inProgress.set(name, left);
      else this.#inProgress.delete(name);
    };
    return { concurrent: others > 0 ? others : undefined, end };
  }

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
