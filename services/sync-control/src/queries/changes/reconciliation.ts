import type { PageRange, Sql } from '@secrets/db';
import { beforeFirst } from '../associations/association-pages.ts';
import { ofExistingDestination } from '../associations/associations.ts';

/** Lease of a process on one page. After it, another process takes over. */
const lease = `interval '2 minutes'`;

/**
 * Takes the lease of the reconciliation. Starts a round if the last one started at least `intervalSeconds` ago, and otherwise
 * continues an unfinished one. Returns the last association that was compared; undefined if there is nothing to do now, or
 * another process holds the lease.
 */
export async function claimReconciliation(
  sql: Sql,
  owner: string,
  intervalSeconds: number,
): Promise<string | undefined> {
  const [row] = await sql.query<{ position: string }>(
    `update sync.reconciliation
        set lease_owner = $1, leased_until = now() + ${lease}, running = true,
            started_at = case when running then started_at else now() end
      where leased_until <= now() and (running or started_at <= now() - $2 * interval '1 second')
      returning position`,
    [owner, intervalSeconds],
  );
  return row?.position;
}

/** Records the last association that was compared. Returns false if another process has taken over. */
export async function recordPosition(sql: Sql, owner: string, position: string): Promise<boolean> {
  const rows = await sql.query(
    `update sync.reconciliation set position = $2, leased_until = now() + ${lease} where lease_owner = $1 returning id`,
    [owner, position],
  );
  return rows.length > 0;
}

export async function endRound(sql: Sql, owner: string): Promise<void> {
  await sql.query('update sync.reconciliation set running = false, position = $2 where lease_owner = $1', [
    owner,
    beforeFirst,
  ]);
}

/** Ends the lease, so that any process may continue. */
export async function releaseReconciliation(sql: Sql, owner: string): Promise<void> {
  await sql.query(
    `update sync.reconciliation set lease_owner = null, leased_until = '-infinity' where lease_owner = $1`,
    [owner],
  );
}

/** An association with the revision of its secret that it was planned from; 0 if that revision was lost with commits. */
export interface PlannedRevisionRow {
  id: string;
  destinationId: string;
  secretId: string;
  plannedRevision: number;
  /** Whether its source was gone. */
  isMarked: boolean;
  /** Whether it is held by hand or by a rule. */
  isHeld: boolean;
}

/**
 * Returns associations of all destinations by ID, after the given one. Those that are not followed are being removed, or their
 * destination was deleted by force. Filtering them here could skip a million rows.
 */
export const listPlannedRevisions = (
  sql: Sql,
  { after, limit }: PageRange,
): Promise<(PlannedRevisionRow & { isFollowed: boolean })[]> =>
  sql.query(
    // The limit of the second subquery forces one lookup for each association of the page.
    `select page.id, page."destinationId", page."secretId", page."isMarked", page."isFollowed", page."isHeld",
            case when page."plannedRevision" > current.revision then 0 else page."plannedRevision" end as "plannedRevision"
       from (select a.id, a.destination_id as "destinationId", a.secret_id as "secretId",
                    a.planned_revision as "plannedRevision", a.source_gone_at is not null as "isMarked",
                    a.by_hand or exists (select from sync.rule_holds where association_id = a.id) as "isHeld",
                    not a.removing and ${ofExistingDestination} as "isFollowed"
               from sync.associations a
              where a.id > $1
              order by a.id limit $2) as page
       left join lateral (
         select revision from sync.secret_revisions where secret_id = page."secretId" limit 1) as current on true
      order by page.id`,
    [after, limit],
  );
