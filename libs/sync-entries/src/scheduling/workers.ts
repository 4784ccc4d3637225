import type { Sql } from '@secrets/db';

/** A worker that has not been heard of for this long is gone. */
const aliveSeconds = 15;

/** Records that a worker is alive, and how many entries it works on at once. To be repeated every few seconds. */
export async function recordWorker(
  sql: Sql,
  { id, destinationType, slots }: { id: string; destinationType: string; slots: number },
): Promise<void> {
  await sql.query(
    `insert into sync.workers (id, destination_type, slots) values ($1, $2, $3)
     on conflict (id) do update set slots = excluded.slots, seen_at = now()`,
    [id, destinationType, slots],
  );
}

/** Removes a worker that stops, and those of its type that are long gone. */
export async function forgetWorker(sql: Sql, id: string, destinationType: string): Promise<void> {
  await sql.query(
    `delete from sync.workers where id = $1 or (destination_type = $2 and seen_at < now() - interval '1 hour')`,
    [id, destinationType],
  );
}

const isAlive = `seen_at > now() - interval '${aliveSeconds} seconds'`;

/** SQL: the types of which a worker is alive, as an array. */
export const liveTypes = `array(select destination_type from sync.workers where ${isAlive})`;

/** SQL: the slots of all live workers of a type together; 0 if there is none. */
export const liveSlots = (destinationType: string): string =>
  `(select coalesce(sum(slots), 0)::int from sync.workers
     where destination_type = ${destinationType} and ${isAlive})`;

/** Whether a worker of a type is alive. */
export async function hasWorker(sql: Sql, destinationType: string): Promise<boolean> {
  const [row] = await sql.query<{ slots: number }>(`select ${liveSlots('$1')} as slots`, [destinationType]);
  return (row?.slots ?? 0) > 0;
}
