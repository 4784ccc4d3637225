import type { Sql } from '@secrets/db';
import { isPausedNow } from '../scheduling/lanes.ts';
import { destinationRevision, isLeased, isSyncing } from '../sql-fragments.ts';
import type { ClaimedEntry } from './claim-entries.ts';
import type { EntryContext } from './entry-context.ts';

/** A claimed entry, and the revision of its destination that was read after the claim. */
export interface WaitingClaim {
  entry: Pick<ClaimedEntry, 'id' | 'fence' | 'desired'>;
  destinationRevision: EntryContext['destination']['revision'];
}

/**
 * Returns the IDs of those claimed entries that may still be worked on after a wait, with what was read before it. Leaves out
 * those whose lease was lost, whose put or removal is no longer wanted, and those whose destination has changed, was deleted by
 * force or paused; and all of them while syncing is disabled or held. A newer value does not exclude an entry: it becomes due
 * again once the earlier value is pushed.
 */
export async function confirmClaims(sql: Sql, claims: readonly WaitingClaim[]): Promise<Set<string>> {
  // The limit forces one lookup by primary key for each entry, whatever the statistics of the tables suggest.
  const rows = await sql.query<{ id: string }>(
    `select found.id from unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[]) as held (id, fence, desired, revision) cross join lateral (
       select e.id from sync.entries e join sync.destinations d on d.id = e.destination_id and d.deleted_at is null
        where e.id = held.id and e.fence = held.fence and ${isLeased} and e.desired = held.desired and ${destinationRevision} = held.revision
          and not ${isPausedNow('d.id', 'd.lane_id')} and ${isSyncing}
        limit 1) as found`,
    [
      claims.map(({ entry }) => entry.id),
      claims.map(({ entry }) => entry.fence),
      claims.map(({ entry }) => entry.desired),
      claims.map((claim) => claim.destinationRevision),
    ],
  );
  return new Set(rows.map(({ id }) => id));
}
