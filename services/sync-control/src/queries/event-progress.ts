import type { Sql } from '@secrets/db';

/**
 * Adds the outcomes of the next events to their minutes, and returns how many events there were; undefined if another process is
 * counting. Call it in a transaction, which excludes other processes until it ends.
 */
export async function countSomeEvents(sql: Sql, limit: number): Promise<number | undefined> {
  const [row] = await sql.query<{ count: number }>(
    `with progress as materialized (select counted_xid, counted_id from sync.event_progress for update skip locked),
     page as materialized (
       select e.* from progress p cross join lateral (
         select xid, id, at, outcome, destination_id from sync.events
          where (xid, id) > (p.counted_xid, p.counted_id) and xid < pg_snapshot_xmin(pg_current_snapshot())
          order by xid, id limit $1) as e),
     added as (
       insert into sync.outcome_minutes as m (namespace_id, destination_type, minute, succeeded, failed)
       select d.namespace_id, d.type, counted.minute, sum(counted.succeeded), sum(counted.failed)
         from (select destination_id, date_trunc('minute', at) as minute, count(*) filter (where outcome = 'succeeded') as succeeded,
                      count(*) filter (where outcome = 'failed') as failed
                 from page where outcome is not null group by 1, 2) as counted
        cross join lateral (
           select namespace_id, type from sync.destinations where id = counted.destination_id and deleted_at is null limit 1) as d
        group by 1, 2, 3
       on conflict (namespace_id, destination_type, minute) do update
         set succeeded = m.succeeded + excluded.succeeded, failed = m.failed + excluded.failed),
     moved as (
       update sync.event_progress set counted_xid = last.xid, counted_id = last.id
         from (select xid, id from page order by xid desc, id desc limit 1) as last)
     select (select count(*) from page)::int as count from progress`,
    [limit],
  );
  return row?.count;
}

/**
 * Resets the progress if this database was restored into a server that has executed fewer transactions than the original: new
 * events would seem older than those already counted. To be called in the transaction of `countSomeEvents`, before it.
 */
export async function forgetCopiedEvents(sql: Sql, limit: number): Promise<void> {
  await sql.query(
    `with copied as (
       update sync.event_progress set counted_xid = now.horizon, counted_id = 0, swept_xid = now.horizon, swept_id = 0
         from (select pg_snapshot_xmin(pg_current_snapshot()) as horizon) as now
        where greatest(counted_xid, swept_xid) > pg_snapshot_xmax(pg_current_snapshot()))
     delete from sync.events where ctid = any (array(
       select ctid from sync.events where xid > pg_snapshot_xmax(pg_current_snapshot()) order by xid desc, id desc limit $1))`,
    [limit],
  );
}

/** Duration for which events are kept, and their maximum number. */
export interface EventRetention {
  seconds: number;
  events: number;
}

/**
 * Deletes at most `limit` of the oldest counted events outside the retention, and returns their number. To be called in the
 * transaction of `countSomeEvents`. The position is recorded before the deletion, so that every reader notices the gap.
 */
export async function sweepSomeEvents(sql: Sql, kept: EventRetention, limit: number): Promise<number> {
  const rows = await sql.query(
    `with progress as materialized (select * from sync.event_progress),
     oldest as materialized (
       select e.* from progress p cross join lateral (
         select xid, id, at from sync.events
          where (xid, id) > (p.swept_xid, p.swept_id) and (xid, id) <= (p.counted_xid, p.counted_id)
          order by xid, id limit $3) as e),
     cut as (
       select xid, id from oldest
        where at < now() - $1 * interval '1 second'
           or id <= (select id from sync.events order by xid desc, id desc limit 1) - $2::bigint
        order by xid desc, id desc limit 1),
     moved as (update sync.event_progress set swept_xid = cut.xid, swept_id = cut.id from cut)
     delete from sync.events e using cut, progress p
      where (e.xid, e.id) > (p.swept_xid, p.swept_id) and (e.xid, e.id) <= (cut.xid, cut.id)
     returning e.id`,
    [kept.seconds, kept.events, limit],
  );
  return rows.length;
}

/** Deletes the minutes before the last `minutes`. */
export async function sweepOutcomeMinutes(sql: Sql, minutes: number): Promise<void> {
  await sql.query(`delete from sync.outcome_minutes where minute < now() - $1 * interval '1 minute'`, [
    minutes,
  ]);
}

/** Outcomes of attempts at external secrets of one type in a minute. */
export interface OutcomeMinute {
  destinationType: string;
  /** The number of the minute, 0 for the first. */
  place: number;
  succeeded: number;
  failed: number;
}

/**
 * Returns the outcomes in a namespace in the last `minutes` minutes, the current one included; minutes without any are
 * left out. `from` is the first one's beginning.
 */
export async function readOutcomeMinutes(
  sql: Sql,
  namespaceId: string,
  minutes: number,
): Promise<{ from: Date; rows: OutcomeMinute[] }> {
  const rows = await sql.query<OutcomeMinute & { from: Date; destinationType: string | null }>(
    `select first.minute as "from", m.destination_type as "destinationType", m.succeeded, m.failed,
            round(extract(epoch from m.minute - first.minute) / 60)::int as place
       from (select date_trunc('minute', now()) - ($2 - 1) * interval '1 minute' as minute) as first
       left join sync.outcome_minutes m on m.namespace_id = $1 and m.minute >= first.minute and m.minute <= now()
      order by m.destination_type, m.minute`,
    [namespaceId, minutes],
  );
  const found = rows.filter(({ destinationType }) => destinationType !== null);
  return { from: rows[0]!.from, rows: found };
}
