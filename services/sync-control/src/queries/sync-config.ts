import type { Sql } from '@secrets/db';
import type { SyncConfig } from '@secrets/sync-entries';

/** Changes the settings that are not null, and returns all of them. */
export async function writeSyncConfig(
  sql: Sql,
  disabled: boolean | null,
  queueCapacity: number | null,
): Promise<SyncConfig> {
  const [row] = await sql.query<SyncConfig>(
    `update sync.config set disabled = coalesce($1, disabled), queue_capacity = coalesce($2, queue_capacity)
     returning disabled, queue_capacity as "queueCapacity"`,
    [disabled, queueCapacity],
  );
  return row!;
}

/** Restores the defaults. */
export async function resetSyncConfig(sql: Sql): Promise<void> {
  await sql.query('update sync.config set disabled = default, queue_capacity = default');
}
