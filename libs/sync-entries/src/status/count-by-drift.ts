import type { Sql } from '@secrets/db';
import { type Drift, driftKinds } from '@secrets/domain';

/** Number of entries of a destination with one kind of drift. */
interface DriftCount {
  destinationId: string;
  drift: Drift;
  count: number;
}

/** Returns how many entries of these destinations have drifted, by kind, counted up to `limit`. Leaves out kinds without any. */
export const countByDrift = (
  sql: Sql,
  destinationIds: readonly string[],
  limit: number,
): Promise<DriftCount[]> =>
  sql.query<DriftCount>(
    `select d.id as "destinationId", k.kind as drift, counted.count
       from unnest($1::uuid[]) as d (id) cross join unnest($2::text[]) as k (kind)
      cross join lateral (
        select count(*) as count from (
          select from sync.entries e where e.destination_id = d.id and e.drift = k.kind and e.drift <> 'none' limit $3) as found) as counted
      where counted.count > 0`,
    [destinationIds, driftKinds, limit],
  );
