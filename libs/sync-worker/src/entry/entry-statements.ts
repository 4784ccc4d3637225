import type { Db } from '@secrets/db';
import {
  type Achieved,
  type ClaimedEntry,
  claimEntries,
  completeEntries,
  type EntryContext,
  readEntryContexts,
} from '@secrets/sync-entries';
import { batched } from './batched.ts';

/** The statements of every attempt. Statements of concurrent attempts are batched. */
export interface EntryStatements {
  /** Returns undefined if there is nothing to do at present. */
  claim(entryId: string): Promise<ClaimedEntry | undefined>;
  /** Returns undefined if the entry no longer exists. */
  readContext(entryId: string): Promise<EntryContext | undefined>;
  /** Returns false if the lease was lost; then nothing was written. */
  complete(held: ClaimedEntry, achieved: Achieved): Promise<boolean>;
}

/** Creates the statements of one worker. */
export function entryStatements(
  db: Db,
  lease: { destinationType: string; owner: string; leaseSeconds: number },
): EntryStatements {
  const claim = batched<string, ClaimedEntry | null>(
    async (entryIds) => {
      const claimed = new Map(
        (await claimEntries(db, { ...lease, entryIds })).map((entry) => [entry.id, entry]),
      );
      return entryIds.map((id) => takeOut(claimed, id));
    },
    async (id) => (await claimEntries(db, { ...lease, entryIds: [id] }))[0] ?? null,
  );
  const readContext = batched<string, EntryContext | null>(
    async (entryIds) => {
      const contexts = await readEntryContexts(db, entryIds);
      return entryIds.map((id) => contexts.get(id) ?? null);
    },
    async (id) => (await readEntryContexts(db, [id])).get(id) ?? null,
  );
  const complete = batched<{ held: ClaimedEntry; achieved: Achieved }, boolean>(
    async (completed) => {
      const written = await completeEntries(db, completed);
      return completed.map(({ held }) => written.has(held.id) || undefined);
    },
    async (one) => (await completeEntries(db, [one])).has(one.held.id),
  );
  return {
    claim: async (entryId) => (await claim(entryId)) ?? undefined,
    readContext: async (entryId) => (await readContext(entryId)) ?? undefined,
    complete: (held, achieved) => complete({ held, achieved }),
  };
}

/** Two messages may name the same entry. Only the first one gets it. */
function takeOut<Value>(from: Map<string, Value>, key: string): Value | undefined {
  const value = from.get(key);
  from.delete(key);
  return value;
}
