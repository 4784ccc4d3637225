import type { Sql } from '@secrets/db';
import type { SyncConfig } from '@secrets/sync-entries';

/** Changes the settings that are given, and returns all of them. */
export async function updateSyncConfig(
  sql: Sql,
  { disabled, queueCapacity }: { [Name in keyof SyncConfig]: SyncConfig[Name] | undefined },
): Promise<SyncConfig> {
  const [row] = await sql.query<SyncConfig>(
    `update sync.config set disabled = coalesce($1, disabled), queue_capacity = coalesce($2, queue_capacity)
     returning disabled, queue_capacity as "queueCapacity"`,
    [disabled ?? null, queueCapacity ?? null],
  );
  return row!;
}

export async function resetSyncConfig(sql: Sql): Promise<void> {
  await sql.query('update sync.config set disabled = default, queue_capacity = default');
}
