import { LRUCache } from 'lru-cache';
import type { AccessChanges } from '../changes/access-changes.ts';
import type { Epoch } from '../changes/epoch.ts';
import type { AtEpoch } from '../read-access.ts';

/** A bounded cache that applies all committed changes before each use, so that no entry outlives a revocation. */
export interface EpochCache<Value extends object> {
  /**
   * Returns the value of a key, no older than the call: from memory if no change since its read affects it, otherwise from
   * `read`, which concurrent calls for the key share. Absent values are not cached.
   * @param seen an epoch that was read after the request arrived; if no change has followed it, the changes are not read again
   */
  get(key: string, read: () => Promise<AtEpoch<Value>>, seen?: Epoch): Promise<AtEpoch<Value>>;
  /** Returns the value of a key if it is in memory and no change known to `changes` affects it. */
  peek(key: string): Value | undefined;
  /** Adds a value that was read together with others, unless a later change may affect it. */
  add(key: string, found: AtEpoch<Value>): void;
  remove(key: string): void;
}

export interface EpochCacheOptions<Value> {
  changes: AccessChanges;
  maxEntries: number;
  /** Tags of the objects whose changes make a value stale (`changeTag`). */
  tagsOf: (value: Value) => readonly string[];
  isCacheable?: (value: Value) => boolean;
  /** How much memory a value takes, in any unit. Default 1. */
  weightOf?: (value: Value) => number;
  /** Maximum total weight; a value that is heavier is not cached. Default `maxEntries`. */
  maxWeight?: number;
}

export function epochCache<Value extends object>(options: EpochCacheOptions<Value>): EpochCache<Value> {
  const { changes, tagsOf, isCacheable = () => true } = options;
  const cache = taggedCache(options);
  changes.subscribe(cache);
  const reading = new Map<string, Promise<AtEpoch<Value>>>();

  const add = (key: string, { epoch, row }: AtEpoch<Value>) => {
    if (row !== undefined && isCacheable(row) && !changes.mayAffect(epoch, tagsOf(row))) cache.set(key, row);
  };
  const keep = async (key: string, found: AtEpoch<Value>) => {
    if (found.row === undefined || !isCacheable(found.row)) return;
    await changes.reach(found.epoch).catch(() => undefined); // if that is not possible, it is not kept
    add(key, found);
  };
  /** The call that started a read does not wait until the value is kept; those that share the read do. */
  const startReading = (key: string, read: () => Promise<AtEpoch<Value>>): Promise<AtEpoch<Value>> => {
    const started = read();
    const finished = started
      .then(async (found) => {
        await keep(key, found);
        return found;
      })
      .finally(() => {
        if (reading.get(key) === finished) reading.delete(key);
      });
    finished.catch(() => undefined); // thrown to the caller
    reading.set(key, finished);
    return started;
  };
  const isCurrent = ({ epoch, row }: AtEpoch<Value>) =>
    row !== undefined && !changes.mayAffect(epoch, tagsOf(row));
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
    drop: (tags: ReadonlySet<string>) => {
      for (const tag of tags) for (const key of [...(keysOf.get(tag) ?? [])]) cache.delete(key);
    },
    clear: () => cache.clear(),
  };
}
