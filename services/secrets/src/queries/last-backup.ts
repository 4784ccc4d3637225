import type { Sql } from '@secrets/db';

/** Returns the seconds since the newest backup of `setup`, or since there could be one. */
export async function readBackupAge(sql: Sql): Promise<number> {
  const [row] = await sql.query<{ seconds: number }>(
    'select extract(epoch from clock_timestamp() - b.at)::float8 as seconds from secrets.last_backup b',
  );
  return row?.seconds ?? 0;
}
