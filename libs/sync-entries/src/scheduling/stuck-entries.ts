import type { Sql } from '@secrets/db';
import { isStuck, markUncertain } from '../sql-fragments.ts';

/**
 * Makes entries due that are unfinished and that nothing else would make due; at most 1,000 at a time. Returns how many: more
 * than 0 means a bug, or that an earlier version ran after a failover that lost commits.
 */
export async function reviveStuckEntries(sql: Sql): Promise<number> {
  const rows = await sql.query(
    `update sync.entries set ${markUncertain}
      where id = any(array(select e.id from sync.entries e where ${isStuck} order by e.updated_at limit 1000 for update skip locked))
      returning id`,
  );
  return rows.length;
}
