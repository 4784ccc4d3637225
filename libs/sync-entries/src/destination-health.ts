import type { Sql } from '@secrets/db';

/**
 * Records that a destination throttles or is down, and returns the number of failures in a row. Calls that fail within
 * 250 ms, or during a pause, count as one failure.
 */
export async function recordDestinationFailure(sql: Sql, destinationId: string): Promise<number> {
  const [row] = await sql.query<{ failures: number }>(
    `insert into sync.destination_health as h (destination_id, failures, paused_until)
     values ($1, 1, now() + interval '250 milliseconds')
     on conflict (destination_id) do update
       set failures = h.failures + case when h.paused_until > now() then 0 else 1 end,
           paused_until = greatest(h.paused_until, excluded.paused_until)
     returning failures`,
    [destinationId],
  );
  return row?.failures ?? 1;
}

/** Prevents claims of this destination's entries for `seconds`. A pause never becomes shorter. */
export async function pauseDestination(sql: Sql, destinationId: string, seconds: number): Promise<void> {
  await sql.query(
    `update sync.destination_health set paused_until = greatest(paused_until, now() + $2 * interval '1 second')
      where destination_id = $1`,
    [destinationId, seconds],
  );
}

/** Records that the destination responds again, which ends its pause. */
export async function recordDestinationSuccess(sql: Sql, destinationId: string): Promise<void> {
  await sql.query(
    'update sync.destination_health set failures = 0, paused_until = null where destination_id = $1 and failures > 0',
    [destinationId],
  );
}
