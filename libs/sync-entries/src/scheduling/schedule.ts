import type { Sql } from '@secrets/db';
import type { EntryMessage } from '@secrets/domain';
import { type Admission, admit, type Budget, untilNextToken } from '@secrets/scheduler';
import { refilled } from './lanes.ts';
import { msUntilReopening, type ReadLane, readLanes } from './read-lanes.ts';

/** Entries that one scheduler has admitted. They are due again after 30 s unless they are marked as announced. */
export interface AdmittedEntries {
  messages: EntryMessage[];
  /** The time in full precision, which identifies the admission; undefined if nothing was admitted. */
  announcedAt: string | undefined;
  /** Whether entries may be due that could not be admitted now. */
  isBusy: boolean;
  /** Milliseconds until the next lane reopens; undefined if none is paused. */
  nextReopeningMs: number | undefined;
  /** Milliseconds until a lane with due entries and an empty budget may make a call; undefined if there is none. */
  nextTokenMs: number | undefined;
}

export interface ScheduleOptions {
  destinationType: string;
  budget: Budget;
}

/** Maximum number of outstanding entries of a type, as a multiple of the slots of its workers. */
const queueFactor = 3;
/** Number of slots that is assumed while no worker is alive, so that the queue fills up and waits. */
const slotsWithoutWorkers = 16;
const nothing: AdmittedEntries = {
  messages: [],
  announcedAt: undefined,
  isBusy: false,
  nextReopeningMs: undefined,
  nextTokenMs: undefined,
};

/**
 * Admits due entries of one type: reads the lanes, decides with `admit`, and marks the admitted entries. One scheduler per type
 * at a time: if another one has admitted entries since the lanes were read, nothing is admitted.
 */
export async function admitEntries(
  sql: Sql,
  { destinationType, budget }: ScheduleOptions,
): Promise<AdmittedEntries> {
  const state = await readLanes(sql, destinationType, budget);
  if (state === undefined) return nothing;
  const { lanes, nowMs, slots, turn } = state;
  const nextReopeningMs = msUntilReopening(lanes, nowMs);
  const due = lanes
    .filter(({ window }) => window > 0)
    .flatMap(({ destinations }) => destinations.filter(({ hasDue }) => hasDue));
  if (due.length === 0) return { ...nothing, nextReopeningMs };
  const admission = admit(lanes, { slots: slots || slotsWithoutWorkers, queueFactor });
  const rows =
    admission.size === 0 ? [] : await markAdmitted(sql, { destinationType, turn, lanes, admission, budget });
  return {
    messages: rows.map(({ id, destination_id }) => ({ entry_id: id, destination_id })),
    announcedAt: rows[0]?.announcedAt,
    isBusy: hasMoreDue(due, admission, rows),
    nextReopeningMs,
    nextTokenMs: nextTokenOf(lanes, admission, budget),
  };
}

/**
 * Returns the milliseconds after this admission until the first lane with due entries and an empty budget has a token;
 * undefined if there is no such lane.
 */
function nextTokenOf(lanes: readonly ReadLane[], admission: Admission, budget: Budget): number | undefined {
  const waits = lanes
    .filter(({ destinations }) => destinations.some(({ hasDue }) => hasDue))
    .map(({ bucket, destinations }) => {
      const admitted = destinations.reduce((sum, { id }) => sum + (admission.get(id) ?? 0), 0);
      return untilNextToken({ ...bucket, tokens: bucket.tokens - admitted }, budget);
    })
    .filter((wait) => wait > 0);
  return waits.length === 0 ? undefined : Math.min(...waits);
}

/** Whether one of these destinations may have more due entries than were admitted: those that used up their admission. */
function hasMoreDue(
  due: readonly { id: string }[],
  admission: Admission,
  rows: readonly AdmittedRow[],
): boolean {
  const admitted = Map.groupBy(rows, ({ destination_id }) => destination_id);
  return due.some(({ id }) => {
    const count = admitted.get(id)?.length ?? 0;
    return count === 0 || count >= admission.get(id)!;
  });
}

/** An admission, and the lanes from which it was decided. */
interface Decision {
  destinationType: string;
  /** The turn of the type when the lanes were read. */
  turn: number | null;
  lanes: readonly ReadLane[];
  admission: Admission;
  budget: Budget;
}

interface AdmittedRow {
  id: string;
  destination_id: string;
  announcedAt: string;
}

/** SQL: up to `w.n` due entries of destination `w.destination_id` with a priority, locked. */
const dueOf = (priority: number): string =>
  `select id from (
     select e.id from sync.entries e where e.destination_id = w.destination_id and e.priority = ${priority} and e.due_at <= now()
      order by e.due_at limit w.n for update skip locked) as due_${priority}`;

/**
 * In one statement: takes the turn of the type, marks the first due entries of each destination, what users asked for before
 * retries, and those before the rest, and takes them out of the budgets of their lanes. Locks the lanes before any entry:
 * whoever changes a lane and its entries locks them in this order too. Leaves out lanes that are locked, because they are about
 * to change, and those that were paused in the meantime: they have their turn in the next round. Does nothing if the turn is
 * another one. Calls that were taken out of a budget after the lanes were read stay taken.
 */
function markAdmitted(
  sql: Sql,
  { destinationType, turn, lanes, admission, budget }: Decision,
): Promise<AdmittedRow[]> {
  const served = lanes.filter(({ destinations }) => destinations.some(({ id }) => admission.has(id)));
  const wanted = served.flatMap((lane) =>
    lane.destinations.filter(({ id }) => admission.has(id)).map(({ id }) => ({ id, lane })),
  );
  return sql.query<AdmittedRow>(
    // Each aggregate is computed as a whole before the next step begins. What was admitted is looked up in an object: Postgres
    // does not know how many destinations there are, and a join would compare each with each.
    `with taken as (
       insert into sync.scheduler_turns as t (destination_type, turn) values ($1, 1)
       on conflict (destination_type) do update set turn = t.turn + 1 where t.turn = $2
       returning turn),
     open as materialized (
       select id from sync.lanes
        where id = any($5::uuid[]) and coalesce(paused_until, '-infinity') <= now() and (select count(*) from taken) = 1
        order by id for no key update skip locked),
     wanted as (
       select * from unnest($6::uuid[], $7::uuid[], $8::int[]) as w (lane_id, destination_id, n)),
     admitted as (
       update sync.entries set announced_at = now(), due_at = now() + interval '30 seconds'
        where id = any(array(
          select picked.id from wanted w cross join lateral (
            select id from (${dueOf(0)} union all ${dueOf(1)} union all ${dueOf(2)}) as by_priority limit w.n) as picked
           where w.lane_id = any((select array_agg(id) from open)::uuid[])))
       returning id, destination_id, announced_at),
     counted as (
       select coalesce(jsonb_object_agg(destination_id, count), '{}') as by_destination
         from (select destination_id, count(*) from admitted group by destination_id) as of_destination),
     charged as (
       select lane_id, sum(coalesce((by_destination ->> destination_id::text)::int, 0)) as calls
         from wanted cross join counted group by lane_id),
     served as (
       update sync.lanes l set tokens = ${refilled} - charged.calls, refilled_at = now(), served_at = now()
         from charged where l.id = charged.lane_id and l.id = any(array(select id from open)))
     select id, destination_id, announced_at::text as "announcedAt" from admitted`,
    [
      destinationType,
      turn,
      budget.perSecond,
      budget.burst,
      served.map(({ id }) => id),
      wanted.map(({ lane }) => lane.id),
      wanted.map(({ id }) => id),
      wanted.map(({ id }) => admission.get(id)!),
    ],
  );
}

/** Entries that were admitted together. */
export interface AdmissionRecord {
  entryIds: readonly string[];
  /** `AdmittedEntries.announcedAt`. */
  announcedAt: string;
}

/**
 * SQL of an array of IDs: those of the entries `$1` whose messages of the admissions `$2` no worker has handled yet. An intent
 * that arrived since changes nothing: the message of the entry is out. A locked row is left out: holding many rows while
 * waiting for another risks a deadlock.
 */
const stillAnnounced = `array(
  select found.id from unnest($1::uuid[], $2::timestamptz[]) as admitted (id, announced_at) cross join lateral (
    select e.id from sync.entries e
     where e.id = admitted.id and e.announced_at = admitted.announced_at limit 1 for update skip locked) as found)`;

const parametersOf = (admissions: readonly AdmissionRecord[]) => [
  admissions.flatMap(({ entryIds }) => entryIds),
  admissions.flatMap(({ entryIds, announcedAt }) => entryIds.map(() => announcedAt)),
];

/** Records that these entries were published. Leaves out those that a worker has claimed or postponed since. */
export async function markAnnounced(sql: Sql, admissions: readonly AdmissionRecord[]): Promise<void> {
  await sql.query(
    `update sync.entries set due_at = null where id = any(${stillAnnounced})`,
    parametersOf(admissions),
  );
}

/**
 * Makes admitted entries that could not be published due at once. Leaves out those that a worker has claimed or postponed since.
 */
export async function releaseAdmitted(sql: Sql, admission: AdmissionRecord): Promise<void> {
  await sql.query(
    `update sync.entries set due_at = now(), announced_at = null where id = any(${stillAnnounced})`,
    parametersOf([admission]),
  );
}
