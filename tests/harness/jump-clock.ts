import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../libs/db/src/index.ts';

const jumpHours = 1;
/** Long enough for claims, pauses and refilled budgets. */
export const aheadMs = 6_000;
/** Tables of syncing whose times are compared with the clock. */
const tables = [
  'clock',
  'lanes',
  'destination_health',
  'destinations',
  'associations',
  'entries',
  'workers',
  'reconciliation',
  'removal_brakes',
  'destination_checks',
];

/** Lets the clock of a database jump an hour ahead, and back after `aheadMs`. */
export async function jumpClock(db: Db): Promise<void> {
  await untilMoved(db, -jumpHours);
  await sleep(aheadMs);
  await untilMoved(db, jumpHours);
}

/** Repeats what a transaction of a stopped process, or a deadlock, has prevented. */
async function untilMoved(db: Db, hours: number): Promise<void> {
  for (;;) {
    try {
      return await moveTimes(db, hours);
    } catch (error) {
      if (!['55P03', '40P01'].includes((error as { code: string }).code)) throw error;
    }
  }
}

/**
 * Moves every stored time, which looks to statements as if the clock had jumped the other way. After both jumps, only
 * the times that were written in between lie ahead.
 */
async function moveTimes(db: Db, hours: number): Promise<void> {
  const columns = await db.query<{ table: string; column: string }>(
    `select table_name as "table", column_name as "column" from information_schema.columns
      where table_schema = 'sync' and data_type = 'timestamp with time zone' and table_name = any($1)`,
    [tables],
  );
  await db.transaction(async (tx) => {
    await tx.query(`lock table ${tables.map((table) => `sync.${table}`).join()} in exclusive mode`);
    for (const [table, all] of Map.groupBy(columns, (one) => one.table)) {
      const moved = all.map(({ column }) => `${column} = ${column} + interval '${hours} hours'`);
      await tx.query(`update sync.${table} set ${moved.join()}`);
    }
  });
}
