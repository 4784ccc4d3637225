import type { Sql } from '@secrets/db';
import { coalescedRead } from '../tokens/coalesced-read.ts';
import type { Epoch } from './epoch.ts';
import { type AccessChange, changesSince, type NewestChanges, readChanges } from './read-changes.ts';

/** A cache that drops the values that a change affects. */
interface SubscribedCache {
  /** Drops the values with any of these tags. */
  drop(tags: ReadonlySet<string>): void;
  clear(): void;
}

/** The changes of tokens, policies and so on that the caches of this process reflect. */
export interface AccessChanges {
  /** The epoch of the newest change that the caches reflect; empty before the first one. */
  readonly epoch: Epoch;
  /** Applies all changes that were committed before the call to the caches. Concurrent calls share one statement. */
  observe(): Promise<void>;
  /**
   * Ensures that the changes after an epoch are known, so that a value that was read at it can be cached. Runs a statement only
   * if the epoch is not among the recent ones.
   */
  reach(epoch: Epoch): Promise<void>;
  /** Whether a value that was read at `epoch` may be outdated by a known change, or the epoch is unknown. */
  mayAffect(epoch: Epoch, tags: readonly string[]): boolean;
  /** Returns the earlier of two epochs: the one that applies to a value combined from reads at both. */
  earlier(one: Epoch, other: Epoch): Epoch;
  subscribe(cache: SubscribedCache): void;
}

/** Maximum number of changes that are kept for reads that began before them. */
const maxKept = 1_000;

/**
 * Follows the changes that login records. A change whose tags are not known, such as one of an older version of login,
 * makes every cached value outdated. So does a change that was known and is not in the database any more, because its
 * commit was lost.
 */
export function accessChanges(db: Sql): AccessChanges {
  const caches: SubscribedCache[] = [];
  let kept: AccessChange[] = []; // the first one only for its epoch

  const current = () => kept.at(-1)?.epoch ?? '';
  const startOver = (epoch: Epoch) => {
    for (const cache of caches) cache.clear();
    kept = [{ epoch, tags: new Set() }];
  };
  const take = (since: Epoch, newest: NewestChanges) => {
    if (newest.epoch === current()) return;
    const later = since !== current() ? undefined : changesSince(since, newest);
    if (later === undefined) return startOver(newest.epoch);
    for (const { tags } of later) for (const cache of caches) cache.drop(tags);
    kept = [...kept, ...later].slice(-maxKept);
  };
  const observe = coalescedRead(async () => {
    const since = current();
    take(since, await readChanges(db, since));
  });
  const placeOf = (epoch: Epoch) => kept.findLastIndex((change) => change.epoch === epoch);
  return {
    get epoch() {
      return current();
    },
    observe,
    reach: async (epoch) => {
      if (kept.length === 0) startOver(epoch);
      if (placeOf(epoch) === -1) await observe();
    },
    mayAffect: (epoch, tags) => {
      const place = placeOf(epoch);
      return place === -1 || kept.slice(place + 1).some((change) => tags.some((tag) => change.tags.has(tag)));
    },
    earlier: (one, other) => (placeOf(one) < placeOf(other) ? one : other),
    subscribe: (cache) => void caches.push(cache),
  };
}
