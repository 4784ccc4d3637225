import type { Sql } from '@secrets/db';
import { sharedRead } from '../tokens/shared-read.ts';
import { type NewestChanges, readChanges } from './read-changes.ts';

/** What keeps values in memory that changes may concern. */
interface Dropping {
  /** Drops what any of these changes concerns. */
  drop(concerns: readonly string[]): void;
  /** Drops everything. */
  clear(): void;
}

/** The changes of tokens, policies and the like, as far as the caches of this process have taken them into account. */
export interface AccessChanges {
  /** The number of the newest change that was taken into account. */
  readonly epoch: number;
  /** Takes every change into account that was committed before the call. Concurrent calls share one statement. */
  observe(): Promise<void>;
  /** Makes the caches of this process begin with what was read at this epoch, if they are still empty. */
  beginAt(epoch: number): void;
  /** Whether a change that was taken into account may concern a value that was read at `epoch`, before that change. */
  mayConcern(epoch: number, tags: readonly string[]): boolean;
  subscribe(cache: Dropping): void;
}

interface Change {
  epoch: number;
  concerns: ReadonlySet<string>;
}

/** How many changes are kept for reads that began before them. */
const maxKept = 1_000;

/**
 * Follows the changes that login records. A change whose concerns are not known, as of an older version of login, concerns everything.
 */
export function accessChanges(db: Sql): AccessChanges {
  const caches: Dropping[] = [];
  let kept: Change[] = [];
  let keptSince = -1; // `kept` has every change after this one
  let epoch = -1;

  const startOver = (at: number) => {
    for (const cache of caches) cache.clear();
    kept = [];
    keptSince = at;
    epoch = at;
  };
  const take = (since: number, newest: NewestChanges) => {
    if (newest.epoch === epoch) return;
    const isComplete = since === epoch && newest.concerns?.length === newest.epoch - since;
    if (!isComplete) return startOver(newest.epoch);
    for (const concerns of newest.concerns ?? []) {
      for (const cache of caches) cache.drop(concerns);
      epoch += 1;
      kept.push({ epoch, concerns: new Set(concerns) });
    }
    kept = kept.slice(-maxKept);
    keptSince = epoch - kept.length;
  };
  return {
    get epoch() {
      return epoch;
    },
    observe: sharedRead(async () => {
      const since = epoch;
      take(since, await readChanges(db, since));
    }),
    beginAt: (at) => {
      if (epoch === -1) startOver(at);
    },
    mayConcern: (at, tags) =>
      at < keptSince ||
      kept.some((change) => change.epoch > at && tags.some((tag) => change.concerns.has(tag))),
    subscribe: (cache) => void caches.push(cache),
  };
}
