import { LRUCache } from 'lru-cache';
import type { AtEpoch } from '../read-access.ts';

/** A bounded cache that checks the epoch before every use, so that no entry outlives a revocation. */
export interface EpochCache<Value extends object> {
  /**
   * Returns the value of a key at some moment after the call: from memory if the epoch has not changed since it was
   * read, otherwise from `read`, which concurrent calls for the key share. Absent values are not cached, nor are those
   * for which `isCacheable` is false.
   */
  get(key: string, read: () => Promise<AtEpoch<Value>>): Promise<Value | undefined>;
  /** Removes one key. */
  drop(key: string): void;
}

export interface EpochCacheOptions<Value> {
  /** Returns the epoch at some moment after the call. */
  epochNow: () => Promise<number>;
  maxEntries: number;
  isCacheable?: (value: Value) => boolean;
  /** How much memory a value takes, in any unit. Default 1. */
  weightOf?: (value: Value) => number;
  /** Maximum total weight; a value that is heavier is not cached. Default `maxEntries`. */
  maxWeight?: number;
}

/** Creates an empty cache. */
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

  const reset = (epoch: number) => {
    cache.clear();
    cacheEpoch = epoch;
  };
  const startReading = (key: string, read: () => Promise<AtEpoch<Value>>): Promise<AtEpoch<Value>> => {
    const started = read().then((found) => {
      if (found.epoch > cacheEpoch) reset(found.epoch);
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
      if (epoch !== cacheEpoch) reset(epoch);
      const cached = cache.get(key);
      if (cached !== undefined) return cached;
      const earlier = await reading.get(key);
      if (earlier !== undefined && earlier.epoch >= epoch) return earlier.row;
      // There was no read in flight, or it may predate the change. One that is in flight now started after this call.
      return (await (reading.get(key) ?? startReading(key, read))).row;
    },
    drop: (key) => void cache.delete(key),
  };
}
