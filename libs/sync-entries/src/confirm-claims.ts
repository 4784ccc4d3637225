import type { Sql } from '@secrets/db';
import type { ClaimedEntry } from './claim-entries.ts';
import { isPausedNow } from './scheduling/lanes.ts';
import { isLeased } from './sql-fragments.ts';

/** A claimed entry, and the destination that was read for it. */
export interface WaitingClaim {
  entry: Pick<ClaimedEntry, 'id' | 'fence' | 'desired'>;
  /** Increases with each change of settings or credentials. */
  destinationRevision: number;
}

/**
 * Returns the IDs of those claimed entries that may still be worked on as they were read, after a wait. Leaves out those whose lease was lost, whose
 * put or removal is no longer wanted, and those whose destination has changed, was deleted by force or paused; and all of them while syncing is
 * disabled. A newer value is no reason: the entry becomes due again when the earlier one was pushed.
 */
export async function confirmClaims(sql: Sql, claims: readonly WaitingClaim[]): Promise<Set<string>> {
  // The limit forces one lookup by primary key for each entry, whatever the statistics of the tables suggest.
  const rows = await sql.query<{ id: string }>(
    `select found.id from unnest($1::uuid[], $2::bigint[], $3::text[], $4::bigint[]) as held (id, fence, desired, revision) cross join lateral (
       select e.id from sync.entries e join sync.destinations d on d.id = e.destination_id and d.deleted_at is null
        where e.id = held.id and e.fence = held.fence and ${isLeased} and e.desired = held.desired and d.revision = held.revision
          and not ${isPausedNow('d.id', 'd.lane_id')} and not exists (select from sync.config where disabled)
        limit 1) as found`,
    [
      claims.map(({ entry }) => entry.id),
      claims.map(({ entry }) => entry.fence),
      claims.map(({ entry }) => entry.desired),
      claims.map(({ destinationRevision }) => destinationRevision),
    ],
  );
  return new Set(rows.map(({ id }) => id));
}
