import { LRUCache } from 'lru-cache';

const maxEntries = 10_000;
/** A removed identity may log in for this long. */
const foundMs = 10_000;
/** A new machine may be refused for this long. */
const missingMs = 1_000;

interface Answer {
  value: object | undefined;
}

/**
 * The answers of the provider's API to one set of credentials, for a short time. Concurrent look-ups of a key share one
 * request. A failure is not kept.
 */
export class LookupCache {
  readonly #answers: LRUCache<string, Answer>;
  readonly #pending = new Map<string, Promise<object | undefined>>();

  /** @param clock milliseconds that never go backwards */
  constructor(clock: () => number = () => performance.now()) {
    this.#answers = new LRUCache({ max: maxEntries, ttlResolution: 0, perf: { now: clock } });
  }

  get<Value extends object>(key: string, read: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const kept = this.#answers.get(key);
    if (kept !== undefined) return Promise.resolve(kept.value as Value | undefined);
    const shared = this.#pending.get(key) ?? this.#read(key, read);
    return shared as Promise<Value | undefined>;
  }

  #read(key: string, read: () => Promise<object | undefined>): Promise<object | undefined> {
    const begun = read()
      .then((value) => {
        this.#answers.set(key, { value }, { ttl: value === undefined ? missingMs : foundMs });
        return value;
      })
      .finally(() => this.#pending.delete(key));
    this.#pending.set(key, begun);
    return begun;
  }
}
