import { setTimeout as sleep } from 'node:timers/promises';
import { batched, type Db } from '@secrets/db';
import {
  type AttemptResult,
  type ClaimedEntry,
  claimEntries,
  completeEntries,
  confirmClaims,
  type EntryContext,
  lockedEntries,
  readEntryContexts,
  readSealedValue,
  type StoredValue,
  type WaitingClaim,
} from '@secrets/sync-entries';
import { SecretValue, type SecretValues } from './values/secret-values.ts';

/** A claimed entry, and when its claim was sent, in milliseconds of `performance.now`: the lease began no earlier. */
export interface Claim {
  entry: ClaimedEntry;
  sentAt: number;
}

/** Context of an entry, with its decrypted value, during one attempt. */
export interface AttemptContext extends Omit<EntryContext, 'value'> {
  /** The newest readable version; null when none is left. */
  value: SecretValue | null;
  /** To be called when the attempt has ended, and the value is no longer needed. */
  release(): void;
}

/** The statements of an attempt. Those of concurrent attempts are batched. */
export interface EntryStatements {
  /** Returns undefined if there is nothing to do at present. */
  claim(entryId: string): Promise<Claim | undefined>;
  /** Returns undefined if the entry no longer exists. Waits while too many large values are in use. */
  readContext(entryId: string): Promise<AttemptContext | undefined>;
  /** Returns whether the entry may still be worked on with the context that was read; see `confirmClaims`. */
  confirm(entry: ClaimedEntry, context: AttemptContext): Promise<boolean>;
  /** Returns false if the lease was lost; then nothing was written. */
  complete(held: ClaimedEntry, achieved: AttemptResult): Promise<boolean>;
}

interface Lease {
  destinationType: string;
  owner: string;
  leaseSeconds: number;
}

interface WorkerDbs {
  /** For statements that may wait for a row that another transaction has locked. */
  db: Db;
  /** For statements that never wait for a lock; they are not delayed by those that do. */
  unblockedDb: Db;
}

export function entryStatements(dbs: WorkerDbs, lease: Lease, values: SecretValues): EntryStatements {
  const claim = claims(dbs.unblockedDb, lease);
  const readContext = contexts(dbs.unblockedDb, values);
  const confirm = confirmations(dbs.unblockedDb);
  const complete = completions(dbs);
  return {
    claim: async (entryId) => (await claim(entryId)) ?? undefined,
    readContext,
    confirm: (entry, { destination }) => confirm({ entry, destinationRevision: destination.revision }),
    complete: (held, achieved) => complete({ held, achieved }),
  };
}

/** Pauses before an entry that was locked is read again, in milliseconds: rows are usually locked for less than one. */
const lockedPausesMs = [2, 10, 50, 250];

function claims(db: Db, lease: Lease) {
  const claimAll = async (entryIds: readonly string[]): Promise<Map<string, Claim>> => {
    const sentAt = performance.now();
    const entries = await claimEntries(db, { ...lease, entryIds });
    return new Map(entries.map((entry) => [entry.id, { entry, sentAt }]));
  };
  return batched<string, Claim | null>(
    async (entryIds) => {
      const claimed = await claimAll(entryIds);
      return entryIds.map((id) => takeOut(claimed, id));
    },
    async (id) => {
      for (const ms of lockedPausesMs) {
        if (!(await lockedEntries(db, [id])).has(id)) break;
        await sleep(ms);
      }
      return (await claimAll([id])).get(id) ?? null;
    },
  );
}

/** A context whose value may be too large to be read with others. */
type ReadContext = Omit<EntryContext, 'value'> & { value: SecretValue | StoredValue | null };

function contexts(db: Db, values: SecretValues): EntryStatements['readContext'] {
  const readAll = async (entryIds: readonly string[]): Promise<(ReadContext | null)[]> => {
    const { knownVersionIds, toValue } = values.reading();
    const found = await readEntryContexts(db, entryIds, knownVersionIds);
    return entryIds.map((id) => {
      const context = found.get(id);
      if (context === undefined) return null;
      return { ...context, value: context.value === null ? null : toValue(context.value) };
    });
  };
  const read = batched(readAll, async (id) => (await readAll([id]))[0] ?? null);
  return async (id) => {
    const context = await read(id);
    if (context === null) return undefined;
    const { value } = context;
    if (value === null || value instanceof SecretValue) return { ...context, value, release: () => {} };
    const sealed = () => readSealedValue(db, id, value.location.versionId);
    return { ...context, ...(await values.shareLarge(value, sealed)) };
  };
}

const confirmations = (db: Db) =>
  batched<WaitingClaim, boolean>(
    async (claims) => {
      const confirmed = await confirmClaims(db, claims);
      return claims.map(({ entry }) => confirmed.has(entry.id));
    },
    async (claim) => (await confirmClaims(db, [claim])).has(claim.entry.id),
  );

const completions = ({ db, unblockedDb }: WorkerDbs) =>
  batched<{ held: ClaimedEntry; achieved: AttemptResult }, boolean>(
    async (completed) => {
      const written = await completeEntries(unblockedDb, completed, { skipLocked: true });
      return completed.map(({ held }) => written.has(held.id) || undefined);
    },
    async (one) => (await completeEntries(db, [one])).has(one.held.id),
  );

/** Two messages may name the same entry. Only the first one gets it. */
function takeOut<Value>(from: Map<string, Value>, key: string): Value | undefined {
  const value = from.get(key);
  from.delete(key);
  return value;
}
