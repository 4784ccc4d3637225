import type { Sql } from '@secrets/db';
import { schemaNames } from './describe-database.ts';

/** The table of the newest backup (docs/operations/backup.md). */
const table = `${schemaNames[1]}.last_backup`;

/** Records of which moment the newest backup is. A database that was not migrated yet has no place for it. */
export async function recordBackup(sql: Sql, at: string): Promise<void> {
  const [row] = await sql.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [table]);
  if (row?.exists !== true) return;
  await sql.query(`update ${table} set at = greatest(at, $1::timestamptz)`, [at]);
}
