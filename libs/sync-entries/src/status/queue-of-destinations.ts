import type { Sql } from '@secrets/db';
import { isOutstanding } from '../sql-fragments.ts';

/** The pending entries of a destination. */
export interface DestinationQueue {
  destinationId: string;
  /** Due now: they wait until their destination and lane are not paused and have room. */
  due: number;
  /** Due later: retries. */
  scheduled: number;
  /** Enqueued, or with a worker. */
  inProgress: number;
  /** Seconds for which the oldest due entry has been due; null if none is due. */
  oldestDueSeconds: number | null;
}

/** SQL: how many entries of destination `d` and priority `p` with this condition on `due_at` there are, up to `$2`. */
const countWaiting = (condition: string): string =>
  `(select count(*) from (select from sync.entries e
     where e.destination_id = d.id and e.priority = p.priority and e.due_at ${condition} limit $2) as counted)`;

/** Returns the queues of these destinations, counted up to `limit`. */
export const readQueues = (
  sql: Sql,
  destinationIds: readonly string[],
  limit: number,
): Promise<DestinationQueue[]> =>
  sql.query<DestinationQueue>(
    // By priority: each is a range of the index `entries_waiting`. What is enqueued or in progress may be due again later.
    `select d.id as "destinationId", least($2, waiting.due)::int as due,
            least($2, greatest(0, waiting.later - outstanding.later))::int as scheduled, outstanding.count::int as "inProgress",
            extract(epoch from now() - waiting.oldest)::int as "oldestDueSeconds"
       from unnest($1::uuid[]) as d (id)
      cross join lateral (
        select sum(${countWaiting('<= now()')}) as due, sum(${countWaiting('> now()')}) as later,
               min((select e.due_at from sync.entries e
                     where e.destination_id = d.id and e.priority = p.priority and e.due_at <= now() order by e.due_at limit 1)) as oldest
          from (values (0), (1), (2)) as p (priority)) as waiting
      cross join lateral (
        select count(*) filter (where ${isOutstanding}) as count, count(*) filter (where e.due_at > now()) as later
          from sync.entries e
         where e.destination_id = d.id and (e.announced_at is not null or e.lease_until is not null)) as outstanding`,
    [destinationIds, limit],
  );
