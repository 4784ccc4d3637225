import type { Sql } from '@secrets/db';

/** The schemas that store deadlines. */
export type ClockSchema = 'login' | 'secrets' | 'sync';

/** Steps of this size are usual when a server corrects its clock. What waits for them waits no longer than that. */
const tolerated = `interval '2 seconds'`;

/** Transactions that began before the clock was set back have usually ended after this time. */
const settled = `interval '10 seconds'`;

/** SQL: a time before the clock was set back, which is noticed a moment later; now if that is already corrected. */
export const beforeSetBack = (schema: ClockSchema): string =>
  `coalesce((select set_back_at - interval '5 seconds' from ${schema}.clock), now())`;

/** A clock that was set back. */
export interface SetBack {
  /** The newest time before, in full precision, as text. */
  seenAt: string;
  /** By how much it was set back. */
  seconds: number;
}

/**
 * Records the time of the database as the newest one of a schema, unless one of the last half second is recorded, so that the
 * number of processes does not matter. If the clock is behind the newest time, records when that was noticed first; returns by
 * how much, once transactions that began before have ended.
 */
export async function advanceClock(sql: Sql, schema: ClockSchema): Promise<SetBack | undefined> {
  const isBehind = `seen_at > clock_timestamp() + ${tolerated}`;
  const [row] = await sql.query<SetBack>(
    // Not now(): a statement that was delayed after it began would find a time that others have recorded since.
    `with advanced as (
       update ${schema}.clock
          set set_back_at = case when ${isBehind} then clock_timestamp() end, seen_at = greatest(seen_at, clock_timestamp())
        where seen_at < clock_timestamp() - interval '0.5 seconds'
           or ${isBehind} and (set_back_at is null or set_back_at > clock_timestamp()))
     select seen_at::text as "seenAt", extract(epoch from seen_at - set_back_at)::float8 as seconds from ${schema}.clock
      where ${isBehind} and set_back_at < clock_timestamp() - ${settled}`,
  );
  return row;
}

/** Records the time of the database as the newest one in the place of `seenAt`. Returns whether that was the newest one. */
export async function restartClock(
  sql: Sql,
  schema: ClockSchema,
  { seenAt }: Pick<SetBack, 'seenAt'>,
): Promise<boolean> {
  const rows = await sql.query(
    `update ${schema}.clock set seen_at = clock_timestamp(), set_back_at = null where seen_at = $1::timestamptz returning id`,
    [seenAt],
  );
  return rows.length > 0;
}
