import { LRUCache } from 'lru-cache';
import type { AccessChanges } from '../changes/access-changes.ts';
import type { AtEpoch } from '../read-access.ts';

/** A bounded cache that takes every earlier change into account before each use, so that no entry outlives a revocation. */
export interface EpochCache<Value extends object> {
  /**
   * Returns the value of a key at some moment after the call: from memory if no change since then concerns it, otherwise from `read`, which
   * concurrent calls for the key share. Absent values are not cached.
   * @param seen an epoch that was read after the request arrived; if no change has followed it, the changes are not read again
   */
  get(key: string, read: () => Promise<AtEpoch<Value>>, seen?: number): Promise<AtEpoch<Value>>;
  /** Returns the value of a key if it is in memory and was not concerned by any change that `changes` has taken into account. */
  peek(key: string): Value | undefined;
  /** Adds what was read together with other values, unless a later change concerns it. */
  add(key: string, found: AtEpoch<Value>): void;
  /** Removes one key. */
  remove(key: string): void;
}

export interface EpochCacheOptions<Value> {
  changes: AccessChanges;
  maxEntries: number;
  /** What a value depends on (`concern`). */
  tagsOf: (value: Value) => readonly string[];
  isCacheable?: (value: Value) => boolean;
  /** How much memory a value takes, in any unit. Default 1. */
  weightOf?: (value: Value) => number;
  /** Maximum total weight; a value that is heavier is not cached. Default `maxEntries`. */
  maxWeight?: number;
}

/** Creates an empty cache. */
export function epochCache<Value extends object>(options: EpochCacheOptions<Value>): EpochCache<Value> {
  const { changes, tagsOf, isCacheable = () => true } = options;
  const cache = taggedCache(options);
  changes.subscribe(cache);
  const reading = new Map<string, Promise<AtEpoch<Value>>>();

  const add = (key: string, { epoch, row }: AtEpoch<Value>) => {
    if (row === undefined || !isCacheable(row)) return;
    changes.beginAt(epoch);
    if (!changes.mayConcern(epoch, tagsOf(row))) cache.set(key, row);
  };
  const startReading = (key: string, read: () => Promise<AtEpoch<Value>>): Promise<AtEpoch<Value>> => {
    const started = read().then((found) => {
      add(key, found);
      return found;
    });
    const finished = started.finally(() => {
      if (reading.get(key) === finished) reading.delete(key);
    });
    reading.set(key, finished);
    return finished;
  };
  const isCurrent = ({ epoch, row }: AtEpoch<Value>) =>
    row !== undefined && !changes.mayConcern(epoch, tagsOf(row));
  return {
    get: async (key, read, seen) => {
      if (!cache.has(key) && !reading.has(key)) return startReading(key, read);
      if (seen !== changes.epoch) await changes.observe();
      const row = cache.get(key);
      if (row !== undefined) return { epoch: changes.epoch, row };
      const earlier = await reading.get(key);
      if (earlier !== undefined && isCurrent(earlier)) return earlier;
      // There was no read in flight, or it may predate a change. One that is in flight now started after this call.
      return reading.get(key) ?? startReading(key, read);
    },
    peek: cache.get,
    add,
    remove: cache.remove,
  };
}

/** A bounded cache that finds the keys of a tag. */
function taggedCache<Value extends object>(options: EpochCacheOptions<Value>) {
  const { maxEntries, tagsOf, weightOf = () => 1, maxWeight = maxEntries } = options;
  const keysOf = new Map<string, Set<string>>();
  const forget = (value: Value, key: string) => {
    for (const tag of tagsOf(value)) {
      const keys = keysOf.get(tag);
      if (keys?.delete(key) && keys.size === 0) keysOf.delete(tag);
    }
  };
  const cache = new LRUCache<string, Value>({
    max: maxEntries,
    maxSize: maxWeight,
    sizeCalculation: weightOf,
    dispose: forget,
  });
  const set = (key: string, value: Value) => {
    cache.set(key, value);
    if (!cache.has(key)) return; // too heavy
    for (const tag of tagsOf(value)) {
      const keys = keysOf.get(tag);
      if (keys === undefined) keysOf.set(tag, new Set([key]));
      else keys.add(key);
    }
  };
  return {
    has: (key: string) => cache.has(key),
    get: (key: string) => cache.get(key),
    set,
    remove: (key: string) => void cache.delete(key),
    drop: (concerns: readonly string[]) => {
      for (const tag of concerns) for (const key of [...(keysOf.get(tag) ?? [])]) cache.delete(key);
    },
    clear: () => cache.clear(),
  };
}
