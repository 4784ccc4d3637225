/** Time for which the states of an object are kept: the largest lag that a fault can cause. */
const keptMs = 600_000;
const maxStates = 100;
const sweepEvery = 1_000;

interface State<Content> {
  /** When the object took this state. */
  fromMs: number;
  /** Undefined while the object does not exist. */
  content: Content | undefined;
}

/**
 * The recent states of a store's objects, for reads that return an earlier one. Keeps those of the last ten minutes,
 * and at most a hundred of each object: the oldest of these then counts as that of the time before it, too.
 */
export class History<Content> {
  readonly #states = new Map<string, State<Content>[]>();
  readonly #copy: (content: Content) => Content;
  readonly #now: () => number;
  #untilSweep = sweepEvery;

  /** @param copy returns a copy that does not change when the original does */
  constructor(copy: (content: Content) => Content, now: () => number) {
    this.#copy = copy;
    this.#now = now;
  }

  /** Remembers the state that an object has from now on: undefined if it no longer exists. */
  record(key: string, content: Content | undefined, fromMs = this.#now()): void {
    const states = this.#states.get(key) ?? [];
    states.push({ fromMs, content: content && this.#copy(content) });
    while (this.#isSuperfluous(states)) dropOldest(states);
    this.#states.set(key, states);
    this.#untilSweep -= 1;
    if (this.#untilSweep <= 0) this.#sweep();
  }

  /** The state of an object that was loaded, which it has always had. */
  load(key: string, content: Content | undefined): void {
    this.#states.delete(key);
    if (content !== undefined) this.record(key, content, Number.NEGATIVE_INFINITY);
  }

  /** Copies of the objects that existed at a time. */
  at(ms: number): Content[] {
    return [...this.#states.values()]
      .map((states) => states.findLast(({ fromMs }) => fromMs <= ms)?.content)
      .filter((content) => content !== undefined)
      .map((content) => this.#copy(content));
  }

  clear(): void {
    this.#states.clear();
  }

  /** Forgets the objects that have been gone for so long that no read can return them. */
  #sweep(): void {
    this.#untilSweep = sweepEvery;
    const sinceMs = this.#now() - keptMs;
    for (const [key, states] of this.#states) {
      const last = states.at(-1);
      if (last?.content === undefined && (last?.fromMs ?? 0) < sinceMs) this.#states.delete(key);
    }
  }

  #isSuperfluous([, second, ...others]: readonly State<Content>[]): boolean {
    if (second === undefined) return false;
    return second.fromMs <= this.#now() - keptMs || others.length + 2 > maxStates;
  }
}

function dropOldest<Content>(states: State<Content>[]): void {
  const [oldest, second] = states;
  states.shift();
  if (oldest !== undefined && second !== undefined) second.fromMs = Math.min(second.fromMs, oldest.fromMs);
}
