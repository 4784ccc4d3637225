import { type Epoch, epochSql } from '@secrets/access';
import type { Sql } from '@secrets/db';

/** A position in the order of the events, behind all events up to it. The numbers exceed JavaScript's safe integers. */
export interface EventPosition {
  xid: bigint;
  id: bigint;
}

/** A change of a secret under a mount that is still enabled, with the current path of the mount. */
export interface EventRow {
  xid: string;
  id: string;
  at: Date;
  kind: string;
  path: string;
  currentVersion: number | null;
  oldestVersion: number | null;
  versions: number[] | null;
  /** Null if the mount is gone. */
  mount: string | null;
  accessor: string;
  namespaceId: string;
  namespacePath: string;
}

export interface EventPage {
  rows: EventRow[];
  /** No event below this transaction will be added. */
  horizon: bigint;
  /** Every transaction that has begun before the read is below this one. */
  newest: bigint;
  /** The epoch of the newest change of access, read before the events. */
  accessEpoch: Epoch;
}

/** Reads events after a position, in order. */
export async function readEvents(sql: Sql, after: EventPosition, limit: number): Promise<EventPage> {
  const rows = await sql.query<EventRow & { horizon: string; newest: string; accessEpoch: Epoch }>(
    `with state as materialized (
       select pg_snapshot_xmin(pg_current_snapshot()) as horizon, pg_snapshot_xmax(pg_current_snapshot()) as newest,
              (select ${epochSql('c')} from login.access_epoch c) as epoch)
     select s.horizon::text as horizon, s.newest::text as newest, s.epoch as "accessEpoch", e.xid::text as xid, e.id::text as id,
            e.at, e.kind, e.path, e.current_version as "currentVersion", e.oldest_version as "oldestVersion", e.versions,
            m.path as mount, m.accessor, m.namespace_id as "namespaceId", n.path as "namespacePath"
       from state s
       left join lateral (
         select * from secrets.events where (xid, id) > ($1::xid8, $2::bigint) and xid < s.horizon order by xid, id limit $3) e on true
       left join lateral (
         select path, accessor, namespace_id from secrets.mounts where id = e.mount_id and disabled_at is null limit 1) m on true
       left join lateral (select path from login.namespaces where id = m.namespace_id limit 1) n on true
      order by e.xid, e.id`,
    [String(after.xid), String(after.id), limit],
  );
  const { horizon, newest, accessEpoch } = rows[0]!;
  return {
    rows: rows.filter(({ xid }) => xid !== null),
    horizon: BigInt(horizon),
    newest: BigInt(newest),
    accessEpoch,
  };
}

/**
 * Has changes recorded for a minute. Returns the transaction since which they are: one that has begun earlier may not record
 * its own.
 */
export async function keepListening(sql: Sql): Promise<bigint> {
  const [row] = await sql.query<{ xid: string }>(
    `update secrets.event_listening set until = clock_timestamp() + interval '60 seconds'
     returning pg_current_xact_id()::text as xid`,
  );
  return BigInt(row!.xid);
}

/** Returns the oldest transaction that is still running. */
export async function readHorizon(sql: Sql): Promise<bigint> {
  const [row] = await sql.query<{ horizon: string }>(
    'select pg_snapshot_xmin(pg_current_snapshot())::text as horizon',
  );
  return BigInt(row!.horizon);
}

/** Deletes the oldest events if they are older than two minutes, a page of them. Returns how many. */
export async function deleteOldEvents(sql: Sql, limit: number): Promise<number> {
  const rows = await sql.query(
    `delete from secrets.events where id = any(array(
       select id from (select id, at from secrets.events order by id limit $1) oldest where at < now() - interval '2 minutes'))
     returning id`,
    [limit],
  );
  return rows.length;
}
