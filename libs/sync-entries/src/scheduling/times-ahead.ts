import type { Sql } from '@secrets/db';

/**
 * The longest that each time can lie ahead of the clock of the database, in seconds. What lies further ahead was stored before
 * that clock was set back, or by a server whose clock was ahead before a failover, and counts as now. Otherwise, work would wait
 * for as long as the clock had been ahead.
 */
export const maxAheadSeconds = {
  /** The longest `LEASE_SECONDS`. */
  lease: 600,
  /** Until an admitted entry is due again, unless its publication is recorded. */
  announcement: 30,
  /** The longest time until an entry is tried again. */
  attempt: 5_400,
  /** The longest pause of a lane or destination. */
  pause: 3_600,
  /** For how long a destination is slow after a call that hung. */
  slow: 30,
} as const;

/**
 * A worker may be calling the store for an entry whose lease lies too far ahead. The default of `LEASE_SECONDS` is left to it,
 * so that the next call rarely overtakes its own; its outcome may still be recorded.
 */
const leftToWorkerSeconds = 30;

/** SQL condition: a time lies further ahead than it can. A second is allowed for rounding. */
export const isAhead = (time: string, maxSeconds: number): string =>
  `${time} > now() + interval '${maxSeconds + 1} seconds'`;

/** SQL: a time, or now if it lies further ahead than it can. */
export const orNow = (time: string, maxSeconds: number): string =>
  `case when ${isAhead(time, maxSeconds)} then now() else ${time} end`;

const isLeaseAhead = isAhead('e.lease_until', maxAheadSeconds.lease);

const pullBack = (ids: string): string =>
  `update sync.entries e
      set lease_until = case when ${isLeaseAhead} then now() + interval '${leftToWorkerSeconds} seconds' else e.lease_until end,
          due_at = greatest(now(), case when ${isLeaseAhead} then now() + interval '${leftToWorkerSeconds} seconds' else e.lease_until end),
          next_attempt_at = ${orNow('e.next_attempt_at', maxAheadSeconds.attempt)}
    where e.id = any(array(${ids}))
   returning id`;

const pageSize = 1_000;

/**
 * Makes the entries due whose times lie further ahead than they can; at most 1,000 of those that wait, and as many of those that
 * are enqueued or in progress. Returns how many. Locked entries are left out: their times are about to change.
 */
export async function pullBackEntries(sql: Sql, destinationTypes: readonly string[]): Promise<number> {
  // The windows bound the number of outstanding entries.
  const outstanding = await sql.query(
    pullBack(
      `select e.id from sync.entries e where (e.announced_at is not null or e.lease_until is not null)
          and (${isLeaseAhead} or e.announced_at is not null and ${isAhead('e.due_at', maxAheadSeconds.announcement)})
        limit ${pageSize} for update skip locked`,
    ),
  );
  const waiting = await sql.query(
    pullBack(
      `select found.id from unnest($1::text[]) as t (type) cross join lateral (
         select e.id from sync.entries e where e.destination_type = t.type and ${isAhead('e.due_at', maxAheadSeconds.attempt)}
          order by e.due_at desc limit ${pageSize} for update skip locked) as found limit ${pageSize}`,
    ),
    [destinationTypes],
  );
  return outstanding.length + waiting.length;
}
