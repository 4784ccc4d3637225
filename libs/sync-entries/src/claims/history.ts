import type { Sql } from '@secrets/db';
import type { Drift, FaultKind, SyncStatus } from '@secrets/domain';

/** An outcome of an attempt. Identical failures in a row are one outcome. */
export interface Outcome {
  entryId: string;
  /** When the last of identical failures happened. */
  at: Date;
  /** When the first one happened. */
  since: Date;
  action: 'put' | 'remove';
  /** The status that the attempt led to. */
  status: SyncStatus;
  /** Null if it succeeded, or failed unexpectedly. */
  fault: FaultKind | null;
  /** The service's own wording; null if it succeeded. */
  error: string | null;
  /** Attempts in a row, including this one. */
  attempts: number;
  /** The drift that the attempt was to repair; null if it had another reason. */
  repairOf: Drift | null;
}

/** Number of outcomes that are kept per entry. */
const historyLength = 20;

/**
 * SQL of an insert that records the outcomes in `rows`: a table expression with the columns `id`, `outcomes`,
 * `destination_type`, `action`, `status`, `fault`, `error`, `attempts` and `repair_of`. Overwrites the oldest outcome of each
 * entry, or the last one if `outcomes` has not changed. Nothing else removes outcomes, except the deletion of their entry.
 */
export const recordOutcomes = (rows: string): string =>
  `insert into sync.entry_history as h (entry_id, slot, number, destination_type, action, status, fault, error, attempts, repair_of)
   select id, outcomes % ${historyLength}, outcomes, destination_type, action, status, fault, error, attempts, repair_of from ${rows}
   on conflict on constraint entry_history_pkey do update
     set number = excluded.number, action = excluded.action, status = excluded.status, fault = excluded.fault, error = excluded.error,
         attempts = excluded.attempts, repair_of = excluded.repair_of, at = excluded.at,
         since = case when h.number = excluded.number then h.since else excluded.since end`;

/**
 * Returns the last outcomes of these entries, the newest first; at most 20 of each. Leaves out outcomes recorded by a worker of
 * another type than the entry's.
 */
export const readHistory = (sql: Sql, entryIds: readonly string[]): Promise<Outcome[]> =>
  sql.query<Outcome>(
    `select h.entry_id as "entryId", h.at, h.since, h.action, h.status, h.fault, h.error, h.attempts, h.repair_of as "repairOf"
       from sync.entries e join sync.entry_history h on h.entry_id = e.id and h.destination_type = e.destination_type
      where e.id = any($1::uuid[]) order by h.at desc, h.number desc`,
    [entryIds],
  );
