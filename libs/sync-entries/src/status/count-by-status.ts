import type { Sql } from '@secrets/db';
import { type SyncStatus, syncStatuses } from '@secrets/domain';

/** Number of entries of a destination with one status. */
export interface StatusCount {
  destinationId: string;
  status: SyncStatus;
  count: number;
}

/**
 * SQL condition: entry `e` is in the index `entries_by_status`; verbatim as in the index, or Postgres does not use it. The other
 * entries are pending and enqueued or in progress; the windows bound their number.
 */
export const isIndexedByStatus = `(e.status <> 'PENDING' or (e.announced_at is null and e.lease_until is null))`;

/** SQL condition: entry `e` is pending and not in `entries_by_status`. */
export const isPendingInProgress = `e.status = 'PENDING' and (e.announced_at is not null or e.lease_until is not null)`;

/** Returns how many entries of these destinations have each status, counted up to `limit`. Statuses without any are left out. */
export const countByStatus = (
  sql: Sql,
  destinationIds: readonly string[],
  limit: number,
): Promise<StatusCount[]> =>
  sql.query<StatusCount>(
    `select d.id as "destinationId", s.status, least($3, listed.count + coalesce(in_progress.count, 0))::int as count
       from unnest($1::uuid[]) as d (id) cross join unnest($2::text[]) as s (status)
      cross join lateral (
        select count(*) as count from (
          select from sync.entries e where e.destination_id = d.id and e.status = s.status and ${isIndexedByStatus} limit $3) as counted) as listed
       left join lateral (
        select count(*) as count from sync.entries e where e.destination_id = d.id and ${isPendingInProgress}) as in_progress
         on s.status = 'PENDING'
      where listed.count > 0 or in_progress.count > 0`,
    [destinationIds, syncStatuses, limit],
  );
