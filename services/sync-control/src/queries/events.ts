import type { Sql } from '@secrets/db';
import type { FaultKind } from '@secrets/domain';

/** A place in the order of the events: after all that are not above it. Its numbers are too large for those of JavaScript. */
export interface EventPosition {
  xid: bigint;
  id: bigint;
}

/** An event, with the names as they are now. Those of an association that is gone are null, and so is the namespace of a destination that is. */
export interface EventRow {
  xid: string;
  id: string;
  at: Date;
  kind: string;
  namespaceId: string | null;
  destinationType: string | null;
  destinationName: string | null;
  mount: string | null;
  secretName: string | null;
  laneId: string | null;
  /** Of a lane's event: those of the given namespaces that have destinations in it. */
  namespacesOfLane: string[];
  subKey: string | null;
  externalName: string | null;
  status: string | null;
  outcome: 'succeeded' | 'failed' | null;
  fault: FaultKind | null;
  error: string | null;
  attempts: number | null;
  work: string | null;
  pausedUntil: Date | null;
}

/** Events in order, and where they end. */
export interface EventPage {
  rows: EventRow[];
  /** No event below this transaction will be added. */
  horizon: bigint;
  /** Whether events after the given position have been deleted, or the position is not one of this database. */
  isLost: boolean;
  /** The number of the newest change of access, read before the events. */
  accessEpoch: number;
}

interface PageRow extends EventRow {
  horizon: string;
  isLost: boolean;
  accessEpoch: number;
}

/**
 * Reads events after a position. One statement, so that none of them is deleted between the check and the read.
 * @param namespaceIds of those who listen
 */
export async function readEvents(
  sql: Sql,
  { after, limit, namespaceIds }: { after: EventPosition; limit: number; namespaceIds: readonly string[] },
): Promise<EventPage> {
  const rows = await sql.query<PageRow>(
    `with state as materialized (
       select pg_snapshot_xmin(pg_current_snapshot()) as horizon,
              (p.swept_xid, p.swept_id) > ($1::xid8, $2::bigint) or $1::xid8 > pg_snapshot_xmax(pg_current_snapshot()) as is_lost,
              (select value from login.access_epoch) as epoch
         from sync.event_progress p)
     select s.horizon::text as horizon, s.is_lost as "isLost", s.epoch as "accessEpoch", e.xid::text as xid, e.id::text as id, e.at, e.kind,
            coalesce(e.namespace_id, d.namespace_id) as "namespaceId", coalesce(e.destination_type, d.type) as "destinationType",
            coalesce(e.destination_name, d.name) as "destinationName", coalesce(e.mount, a.mount) as mount,
            coalesce(e.secret_name, a.secret_name) as "secretName", e.lane_id as "laneId",
            case when e.lane_id is null then array[]::text[] else array(
              select n.id from unnest($4::text[]) as n (id)
               where exists (select from sync.destinations u where u.namespace_id = n.id and u.lane_id = e.lane_id)) end as "namespacesOfLane",
            e.sub_key as "subKey", e.external_name as "externalName", e.status, e.outcome, e.fault, e.error, e.attempts, e.work,
            e.paused_until as "pausedUntil"
       from state s
       left join lateral (
         select * from sync.events where (xid, id) > ($1::xid8, $2::bigint) and xid < s.horizon order by xid, id limit $3) as e on true
       left join lateral (select namespace_id, type, name from sync.destinations where id = e.destination_id limit 1) as d on true
       left join lateral (select mount, secret_name from sync.associations where id = e.association_id limit 1) as a on true
      order by e.xid, e.id`,
    [String(after.xid), String(after.id), limit, namespaceIds],
  );
  const { horizon, isLost, accessEpoch } = rows[0]!;
  return { rows: rows.filter(({ xid }) => xid !== null), horizon: BigInt(horizon), isLost, accessEpoch };
}

/** Where what happens from now on begins. */
export async function readEventHorizon(sql: Sql): Promise<EventPosition> {
  const [row] = await sql.query<{ horizon: string }>(
    'select pg_snapshot_xmin(pg_current_snapshot())::text as horizon',
  );
  return { xid: BigInt(row!.horizon), id: 0n };
}
