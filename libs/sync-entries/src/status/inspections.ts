import type { Sql } from '@secrets/db';
import type { Json } from '@secrets/domain';
import { isPausedNow } from '../scheduling/lanes.ts';
import { liveTypes } from '../scheduling/workers.ts';
import { isSyncing } from '../sql-fragments.ts';
import { isInspectable, settlingMinutes } from './looks.ts';

/** The progress of the looks at everything in a destination: a round looks at each external secret once, in pages. */
export interface Inspection {
  destinationId: string;
  settings: Readonly<Record<string, Json>>;
  isDeleted: boolean;
  /** Whether nothing may be looked at now: the destination is paused or being purged, or syncing is disabled or held. */
  isBlocked: boolean;
  /** When a request asked for a look at everything, if its round has not ended; null otherwise. */
  requestedAtMs: number | null;
  roundStartedAtMs: number;
  /** The collision key of the last entry that was seen in this round; empty before the first. */
  position: string;
  /** Number of entries seen in this round, and in the one before. */
  seen: number;
  lastSeen: number;
  /** Whether a round has begun, and not ended. */
  isInRound: boolean;
  nowMs: number;
}

/** Returns the types that have an inspection to see to, and a worker. */
export async function dueInspectionTypes(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ type: string }>(
    `select live.type from unnest(${liveTypes}) as live (type)
      where exists (select from sync.inspections where destination_type = live.type and due_at <= now()) group by 1`,
  );
  return rows.map(({ type }) => type);
}

/** SQL: the number of workers of the type `$1` that are alive. */
const aliveWorkers = `(select count(*) from unnest(${liveTypes}) as live (type) where live.type = $1)`;

/** SQL: the number of pages that workers of the type `$1` have, counted up to that of the workers. */
const sentPages = `(select count(*) from (
  select from sync.inspections where destination_type = $1 and page_id is not null and due_at > now() limit ${aliveWorkers}) as sent)`;

/**
 * Locks the inspection of a type that has been due for longest. Returns undefined if there is none, another transaction has
 * it, or as many pages are in progress as there are workers: looks must not fill their queue.
 */
export async function lockDueInspection(sql: Sql, destinationType: string): Promise<Inspection | undefined> {
  const [row] = await sql.query<Inspection>(
    `select i.destination_id as "destinationId", d.settings, d.deleted_at is not null as "isDeleted",
            ${isPausedNow('d.id', 'd.lane_id')} or d.purge_initiated_at is not null
              or not ${isSyncing} as "isBlocked",
            (extract(epoch from i.requested_at) * 1000)::float8 as "requestedAtMs",
            (extract(epoch from i.round_started_at) * 1000)::float8 as "roundStartedAtMs", i.position, i.seen, i.last_seen as "lastSeen",
            i.is_in_round as "isInRound", (extract(epoch from now()) * 1000)::float8 as "nowMs"
       from (select * from sync.inspections
              where destination_type = $1 and due_at <= now() and ${sentPages} < ${aliveWorkers}
              order by due_at limit 1 for no key update skip locked) as i
      cross join lateral (select * from sync.destinations where id = i.destination_id limit 1) as d`,
    [destinationType],
  );
  return row;
}

/** Sees to an inspection again after this time, in milliseconds; never, until the destination changes, if it is undefined. */
export async function deferInspection(
  sql: Sql,
  destinationId: string,
  ms: number | undefined,
): Promise<void> {
  await sql.query(
    `update sync.inspections set due_at = now() + $2::float8 * interval '1 millisecond', page_id = null where destination_id = $1`,
    [destinationId, ms ?? null],
  );
}

/** An entry in the order of an inspection. */
export interface SeenEntry {
  id: string;
  collisionKey: string;
  /** Whether it is to be looked at now. */
  isWanted: boolean;
}

/**
 * Returns the next entries of a destination after a collision key. Those are wanted that were pushed long enough ago, and within
 * `sinceSeconds` neither verified nor looked at in vain. A look that has proved something counts from when it read the store.
 */
export const readInspectionPage = (
  sql: Sql,
  destinationId: string,
  { after, limit, sinceSeconds }: { after: string; limit: number; sinceSeconds: number },
): Promise<SeenEntry[]> =>
  sql.query<SeenEntry>(
    `select e.id, e.collision_key as "collisionKey",
            coalesce(${isInspectable} and e.synced_at < now() - ${settlingMinutes} * interval '1 minute'
              and coalesce(greatest(e.verified_at, case when e.look_error is not null then e.looked_at end), '-infinity') < now() - $4::float8 * interval '1 second', false) as "isWanted"
       from sync.entries e where e.destination_id = $1 and e.collision_key > $2 order by e.collision_key limit $3`,
    [destinationId, after, limit, sinceSeconds],
  );

/** A page of looks. */
interface InspectionPage {
  id: string;
  /** The collision key of its last entry; null if no other one follows in this round. */
  end: string | null;
  /** Number of entries that it covers, also of those that are not looked at. */
  seen: number;
}

/** Minutes after which the page of a worker that has died is looked at again. */
const pageMinutes = 5;

/** Records a page that is about to be sent to a worker. The first one begins a round. */
export async function startInspectionPage(
  sql: Sql,
  destinationId: string,
  { id, end, seen }: InspectionPage,
): Promise<void> {
  await sql.query(
    `update sync.inspections
        set page_id = $2, page_end = $3, page_seen = $4, due_at = now() + interval '${pageMinutes} minutes',
            round_started_at = case when is_in_round then round_started_at else now() end, is_in_round = true
      where destination_id = $1`,
    [destinationId, id, end, seen],
  );
}

/** Whether every entry of a page was looked at; if not, the others are looked at next (`cut`), or a minute later (`failed`). */
type PageEnd = 'complete' | 'cut' | 'failed';

/**
 * Records the end of a page of looks. Does nothing about a page that counts as lost.
 * @param pauseMs the next page waits for so long
 */
export async function endInspectionPage(
  sql: Sql,
  { destinationId, pageId }: { destinationId: string; pageId: string },
  end: PageEnd,
  pauseMs = 0,
): Promise<void> {
  await sql.query(
    `update sync.inspections
        set page_id = null, due_at = now() + case when $4 then interval '1 minute' else $5::float8 * interval '1 millisecond' end,
            is_in_round = not $3 or page_end is not null,
            position = case when not $3 then position else coalesce(page_end, '') end,
            seen = case when not $3 then seen when page_end is null then 0 else seen + page_seen end,
            last_seen = case when $3 and page_end is null then seen + page_seen else last_seen end,
            requested_at = case when $3 and page_end is null then null else requested_at end,
            inspected_at = case when $3 and page_end is null then round_started_at else inspected_at end
      where destination_id = $1 and page_id = $2`,
    [destinationId, pageId, end === 'complete', end === 'failed', pauseMs],
  );
}

/**
 * Requests a round at once that looks at everything in a destination. A round in progress ends, and the next one by period
 * follows a period later. If such a round was requested before and has not ended, does nothing, or with `restart` begins it
 * again.
 */
export async function requestInspection(
  sql: Sql,
  destinationId: string,
  { restart = false } = {},
): Promise<void> {
  await sql.query(
    `update sync.inspections
        set requested_at = now(), due_at = now(), is_in_round = false, position = '', seen = 0, page_id = null
      where destination_id = $1 and (requested_at is null or $2)`,
    [destinationId, restart],
  );
}

/** Ends a requested round. What was not looked at is left to the rounds by period. */
export async function cancelInspection(sql: Sql, destinationId: string): Promise<void> {
  await sql.query(
    'update sync.inspections set requested_at = null where destination_id = $1 and requested_at is not null',
    [destinationId],
  );
}

/** A requested round that has not ended, and the collision key of the last entry that was seen in it. */
export interface RequestedInspection {
  requestedAt: Date;
  position: string;
}

export async function findRequestedInspection(
  sql: Sql,
  destinationId: string,
): Promise<RequestedInspection | undefined> {
  const [row] = await sql.query<RequestedInspection>(
    `select requested_at as "requestedAt", position from sync.inspections where destination_id = $1 and requested_at is not null`,
    [destinationId],
  );
  return row;
}

/** Returns since when everything in a destination was looked at: the beginning of the last round that has ended; null before. */
export async function readInspectedAt(sql: Sql, destinationId: string): Promise<Date | null> {
  const [row] = await sql.query<{ inspectedAt: Date | null }>(
    'select inspected_at as "inspectedAt" from sync.inspections where destination_id = $1',
    [destinationId],
  );
  return row?.inspectedAt ?? null;
}

/** The age of the round of looks that a destination ended last or, if there is none, began. */
interface InspectionAge {
  destinationId: string;
  ageSeconds: number;
  settings: Inspection['settings'];
}

/** Returns how old the looks at everything in these destinations are. Those that are not looked at regularly are left out. */
export const readInspectionAges = (sql: Sql, destinationIds: readonly string[]): Promise<InspectionAge[]> =>
  sql.query<InspectionAge>(
    `select d.id as "destinationId", d.settings,
            extract(epoch from now() - coalesce(i.inspected_at, i.round_started_at))::float8 as "ageSeconds"
       from sync.inspections i join sync.destinations d on d.id = i.destination_id
      where i.destination_id = any($1::uuid[]) and i.due_at is not null and d.deleted_at is null`,
    [destinationIds],
  );

/** Requests a round at once in every destination that looks at everything, also where one was requested before. */
export async function inspectAll(sql: Sql): Promise<void> {
  await sql.query(
    `update sync.inspections
        set requested_at = now(), due_at = now(), is_in_round = false, position = '', seen = 0, page_id = null`,
  );
}
