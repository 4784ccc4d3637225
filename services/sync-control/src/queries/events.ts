import { type Epoch, epochSql } from '@secrets/access';
import type { Sql } from '@secrets/db';
import type { FaultKind } from '@secrets/domain';

/** A position in the order of the events, behind all events up to it. The numbers exceed JavaScript's safe integers. */
export interface EventPosition {
  xid: bigint;
  id: bigint;
  /**
   * The time of the event, or of the read of a position without one, in seconds from 1 within a cycle of about eleven days; 0 if
   * unknown. Detects positions whose numbers later events have reused after commits were lost.
   */
  second: number;
}

/** An event with current names. They are null if the association is gone, and the namespace is null if the destination is. */
export interface EventRow {
  xid: string;
  id: string;
  second: EventPosition['second'];
  at: Date;
  kind: string;
  namespaceId: string | null;
  destinationType: string | null;
  destinationName: string | null;
  mount: string | null;
  secretName: string | null;
  laneId: string | null;
  /** For the event of a lane: those of the given namespaces that have destinations in it. */
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
  drift: string | null;
}

/** Events in order, and where they end. */
export interface EventPage {
  rows: EventRow[];
  /** No event below this transaction will be added. */
  horizon: bigint;
  second: EventPosition['second'];
  /** Whether events after the given position have been deleted, or the position was read before commits were lost. */
  isLost: boolean;
  /** The epoch of the newest change of access, read before the events. */
  accessEpoch: Epoch;
}

/** SQL: `EventPosition.second` of a time. */
const secondOf = (time: string): string => `(extract(epoch from ${time})::bigint % 999999 + 1)::int`;

/**
 * SQL condition: the newest event up to a position is later than the position. In a cycle, half of all seconds count as later
 * than a given one.
 */
const isUsedAgain = (position: string, second: string): string => `${second} <> 0 and exists (
  select from (select at from sync.events where (xid, id) <= ${position} order by xid desc, id desc limit 1) as newest
   where (${secondOf('newest.at')} - ${second} + 999999) % 999999 between 1 and 499999)`;

interface PageRow extends EventRow {
  horizon: string;
  readSecond: EventPosition['second'];
  isLost: boolean;
  accessEpoch: Epoch;
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
       select pg_snapshot_xmin(pg_current_snapshot()) as horizon, ${secondOf('statement_timestamp()')} as second,
              (p.swept_xid, p.swept_id) > ($1::xid8, $2::bigint) or $1::xid8 > pg_snapshot_xmax(pg_current_snapshot())
                or (${isUsedAgain('($1::xid8, $2::bigint)', '$5::int')}) as is_lost,
              (select ${epochSql('c')} from login.access_epoch c) as epoch
         from sync.event_progress p)
     select s.horizon::text as horizon, s.second as "readSecond", s.is_lost as "isLost", s.epoch as "accessEpoch",
            e.xid::text as xid, e.id::text as id, ${secondOf('e.at')} as second, e.at, e.kind,
            coalesce(e.namespace_id, d.namespace_id) as "namespaceId", coalesce(e.destination_type, d.type) as "destinationType",
            coalesce(e.destination_name, d.name) as "destinationName", coalesce(e.mount, a.mount) as mount,
            coalesce(e.secret_name, a.secret_name) as "secretName", e.lane_id as "laneId",
            case when e.lane_id is null then array[]::text[] else array(
              select n.id from unnest($4::text[]) as n (id)
               where exists (select from sync.destinations u where u.namespace_id = n.id and u.lane_id = e.lane_id)) end as "namespacesOfLane",
            e.sub_key as "subKey", e.external_name as "externalName", e.status, e.outcome, e.fault, e.error, e.attempts, e.work,
            e.paused_until as "pausedUntil", e.drift
       from state s
       left join lateral (
         select * from sync.events where (xid, id) > ($1::xid8, $2::bigint) and xid < s.horizon order by xid, id limit $3) as e on true
       left join lateral (select namespace_id, type, name from sync.destinations where id = e.destination_id limit 1) as d on true
       left join lateral (select mount, secret_name from sync.associations where id = e.association_id limit 1) as a on true
      order by e.xid, e.id`,
    [String(after.xid), String(after.id), limit, namespaceIds, after.second],
  );
  const { horizon, readSecond, isLost, accessEpoch } = rows[0]!;
  return {
    rows: rows.filter(({ xid }) => xid !== null),
    horizon: BigInt(horizon),
    second: readSecond,
    isLost,
    accessEpoch,
  };
}

/** Returns the position behind which all future events will be. */
export async function readEventHorizon(sql: Sql): Promise<EventPosition> {
  const [row] = await sql.query<{ horizon: string; second: number }>(
    `select pg_snapshot_xmin(pg_current_snapshot())::text as horizon, ${secondOf('statement_timestamp()')} as second`,
  );
  return { xid: BigInt(row!.horizon), id: 0n, second: row!.second };
}
