import type { Sql } from '@secrets/db';

/** Whether syncing is disabled, and the maximum number of pending operations. */
export interface SyncConfig {
  disabled: boolean;
  queueCapacity: number;
}

/** The configuration of a new installation. */
export const defaultSyncConfig: SyncConfig = { disabled: false, queueCapacity: 1_000_000 };

/** The configuration, and why nothing may be sent outside now. */
export interface SyncState extends SyncConfig {
  /** Null if syncing is neither disabled nor held. */
  stoppedBecause: 'disabled' | 'held' | null;
}

export async function readSyncConfig(sql: Sql): Promise<SyncState> {
  const [row] = await sql.query<SyncState>(
    `select disabled, queue_capacity as "queueCapacity",
            case when disabled then 'disabled' when exists (select from sync.held) then 'held' end as "stoppedBecause"
       from sync.config`,
  );
  return row ?? { ...defaultSyncConfig, stoppedBecause: null };
}

/**
 * Returns the number of pending operations, counted up to `limit`. The cost grows with the pending operations, not with the
 * stored entries.
 */
export async function countPending(sql: Sql, limit: number): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*) as count from (
       (select 1 from sync.entries where due_at is not null limit $1)
       union all
       (select 1 from sync.entries where announced_at is not null and due_at is null limit $1)) as pending`,
    [limit],
  );
  return Math.min(row?.count ?? 0, limit);
}
