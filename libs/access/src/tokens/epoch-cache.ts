import { LRUCache } from 'lru-cache';
import type { AtEpoch } from '../read-access.ts';

/** A bounded cache whose every use is preceded by a look at the epoch, so that it never outlives a revocation. */
export interface EpochCache<Value extends object> {
  /**
   * The value of a key, true at some moment after the question: from memory when the epoch has not moved since it was
   * read, otherwise from `read`, which is shared by all who ask for the key meanwhile. Absent values are not kept,
   * and neither are those that `isCacheable` turns down.
   */
  get(key: string, read: () => Promise<AtEpoch<Value>>): Promise<Value | undefined>;
  /** Forgets one key. */
  drop(key: string): void;
}

export interface EpochCacheOptions<Value> {
  /** Gives the epoch of a moment after the question. */
  epochNow: () => Promise<number>;
  maxEntries: number;
  isCacheable?: (value: Value) => boolean;
  /** How much memory a value takes, in a unit of the caller's; 1 unless said. */
  weightOf?: (value: Value) => number;
  /** Most weight of all that is kept together; what weighs more alone is not kept. */
  maxWeight?: number;
}

/** Makes an empty cache for one kind of thing. */
export function epochCache<Value extends object>(options: EpochCacheOptions<Value>): EpochCache<Value> {
  const {
    epochNow,
    maxEntries,
    isCacheable = () => true,
    weightOf = () => 1,
    maxWeight = maxEntries,
  } = options;
  const cache = new LRUCache<string, Value>({
    max: maxEntries,
    maxSize: maxWeight,
    sizeCalculation: weightOf,
  });
  const reading = new Map<string, Promise<AtEpoch<Value>>>();
  let cacheEpoch = -1; // everything in `cache` was read at this epoch

  const startOver = (epoch: number) => {
    cache.clear();
    cacheEpoch = epoch;
  };
  const startReading = (key: string, read: () => Promise<AtEpoch<Value>>): Promise<AtEpoch<Value>> => {
    const started = read().then((found) => {
      if (found.epoch > cacheEpoch) startOver(found.epoch);
      if (found.row !== undefined && found.epoch === cacheEpoch && isCacheable(found.row))
        cache.set(key, found.row);
      return found;
    });
    const finished = started.finally(() => {
      if (reading.get(key) === finished) reading.delete(key);
    });
    reading.set(key, finished);
    return finished;
  };
  return {
    get: async (key, read) => {
      if (!cache.has(key) && !reading.has(key)) return (await startReading(key, read)).row;
      const epoch = await epochNow();
      if (epoch !== cacheEpoch) startOver(epoch);
      const known = cache.get(key);
      if (known !== undefined) return known;
      const earlier = await reading.get(key);
      if (earlier !== undefined && earlier.epoch >= epoch) return earlier.row;
      // None was under way, or it may have missed what the epoch tells of; what is under way now began after the question.
      return (await (reading.get(key) ?? startReading(key, read))).row;
    },
    drop: (key) => void cache.delete(key),
  };
}
