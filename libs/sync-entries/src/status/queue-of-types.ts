import type { Sql } from '@secrets/db';

/** The pending entries of a destination type. */
interface TypeQueue {
  destinationType: string;
  /** Due now: they wait for the end of a pause, for room in a window or for the account's budget. */
  due: number;
  /** Due later: retries. */
  scheduled: number;
  /** Enqueued, and not yet with a worker. */
  enqueued: number;
  /** Seconds for which the oldest due entry has been due; 0 if none is due. */
  oldestDueSeconds: number;
}

/** SQL: how many entries of type `t` with this condition there are, up to `$2`. */
const countEntries = (condition: string): string =>
  `(select count(*) from (select from sync.entries e where e.destination_type = t.type and ${condition} limit $2) as counted)::int`;

/** Returns the queues of these destination types, of all namespaces, counted up to `limit`. */
export const readTypeQueues = (
  sql: Sql,
  destinationTypes: readonly string[],
  limit: number,
): Promise<TypeQueue[]> =>
  sql.query<TypeQueue>(
    // What is enqueued or in progress may be due again later; the windows bound its number.
    `select t.type as "destinationType", ${countEntries('e.due_at <= now()')} as due,
            ${countEntries('e.due_at > now() and e.announced_at is null and coalesce(e.lease_until <= now(), true)')} as scheduled,
            ${countEntries('e.announced_at is not null')} as enqueued,
            coalesce((select extract(epoch from now() - e.due_at)::float8 from sync.entries e
                       where e.destination_type = t.type and e.due_at <= now() order by e.due_at limit 1), 0) as "oldestDueSeconds"
       from unnest($1::text[]) as t (type)`,
    [destinationTypes, limit],
  );

/** The lanes and destinations of a type whose calls fail, so that they are paused. */
export interface TypePauses {
  destinationType: string;
  lanes: number;
  destinations: number;
}

/** Counts what is paused, up to a limit. A probe that is in progress ends no pause: only its success does. */
export const readTypePauses = (
  sql: Sql,
  destinationTypes: readonly string[],
  limit: number,
): Promise<TypePauses[]> =>
  sql.query<TypePauses>(
    `select t.type as "destinationType", ${countPaused('sync.lanes')} as lanes,
            ${countPaused('sync.destination_health')} as destinations
       from unnest($1::text[]) as t (type)`,
    [destinationTypes, limit],
  );

const countPaused = (table: string): string =>
  `(select count(*)::int from (select from ${table} p where p.destination_type = t.type and p.failures > 0
                                and p.paused_until is not null limit $2) as paused)`;
