import type { Sql } from '@secrets/db';
import type { DriftPolicy } from '@secrets/domain';
import { isRepairable } from '../intents/repair-entries.ts';

/** A version of a secret that clients wait for. */
export interface AwaitedVersion {
  namespaceId: string;
  mount: string;
  secretName: string;
  /** Null for the newest one that can be read. */
  version: number | null;
}

/**
 * Whether a version, or a later one, has arrived in a destination:
 * - `unwritten`: there is no such version yet
 * - `deleted`: it was written, but neither it nor a later one can be read
 * - `gone`: so is the secret
 * - `held`: keys are gone from the secret, and their removal waits for the operator
 * - `failed`: an external secret cannot be synced without the operator
 */
type ArrivalState = 'arrived' | 'pending' | 'unwritten' | 'deleted' | 'gone' | 'held' | 'failed';

/** The states in which a version has arrived, or will without the operator. */
const hopeful: readonly ArrivalState[] = ['arrived', 'pending', 'unwritten'];

/** The state of an awaited version in one destination. */
export interface Arrival {
  type: string;
  name: string;
  /** The version that was written last; null if the secret is gone. */
  currentVersion: number | null;
  /** The newest version that can be read; null if there is none. */
  readableVersion: number | null;
  state: ArrivalState;
  needsOperator: boolean;
  /** With `failed`: the reason. */
  error: string | null;
}

/** Destinations of one secret that are read at most; of a secret with more, there is one more. */
export const maxArrivals = 1_000;

const isHeld = `a.source_gone_at is not null and (
  select a.source_gone_at > case when approved_at is null then '-infinity' else approved_at end
    from sync.removal_brakes where destination_id = a.destination_id and held_at is not null)`;

/**
 * SQL: the state of association `a`, whose secret is `s`. Once the association is planned from the current revision and no entry
 * is pending, the workers have read their values after that revision was written. A failure counts only then: whatever is
 * written later is tried again.
 */
const state = `case
  when s.revision is null then 'gone'
  when s.current_version < coalesce(w.version, 1) then 'unwritten'
  when (s.readable_version >= coalesce(w.version, s.readable_version)) is not true then 'deleted'
  when a.planned_revision <> s.revision and (${isHeld}) then 'held'
  when a.planned_revision <> s.revision then 'pending'
  when failed.error is not null then 'failed'
  when (select true from sync.entries e where e.association_id = a.id and e.status <> 'SYNCED' limit 1) then 'pending'
  else 'arrived' end`;

/** SQL: whether drift in the destination of association `a` is repaired without the operator, unless it is contested. */
const isRepairing = `d.drift_policy = '${'repair' satisfies DriftPolicy}' and coalesce(
  (select (is_wanted or is_repairing) and held_at is null from sync.repairs where destination_id = a.destination_id), false)`;

const failed = `select coalesce(
  a.unnamed_keys -> 0 ->> 'reason',
  (select coalesce(e.last_error, e.status) from sync.entries e
    where e.destination_id = a.destination_id and e.status = 'CLIENT_SIDE_ERROR' and e.association_id = a.id
      and (${isRepairable} and ${isRepairing}) is not true
    order by e.sub_key limit 1)) as error`;

/**
 * SQL: the states of awaited versions. The limits force one lookup for each association: `exists` could read all entries. To be
 * materialized, because each mention of a state would derive it again.
 */
const arrivals = `select w.place, d.type, d.name, s.current_version, s.readable_version, ${state} as state, failed.error
   from unnest($1::text[], $2::text[], $3::text[], $4::int[]) with ordinality as w (namespace_id, mount, secret_name, version, place)
  cross join lateral (
    select distinct on (destination_id) * from sync.associations
     where namespace_id = w.namespace_id and mount = w.mount and secret_name = w.secret_name and not removing
     order by destination_id, created_at desc limit ${maxArrivals + 1}) as a
  cross join lateral (
    select type, name, settings ->> 'drift_policy' as drift_policy from sync.destinations where id = a.destination_id and deleted_at is null limit 1) as d
   left join lateral (
    select revision, current_version, readable_version from sync.secret_versions where secret_id = a.secret_id limit 1) as s on true
  cross join lateral (${failed}) as failed`;

const parametersOf = (awaited: readonly AwaitedVersion[]) => [
  awaited.map(({ namespaceId }) => namespaceId),
  awaited.map(({ mount }) => mount),
  awaited.map(({ secretName }) => secretName),
  awaited.map(({ version }) => version),
];

/**
 * Returns the states of an awaited version in all destinations that its secret is associated with; none if there are no such
 * destinations. Associations that are being removed are left out.
 */
export const readArrivals = (sql: Sql, awaited: AwaitedVersion): Promise<Arrival[]> =>
  sql.query<Arrival>(
    `with arrival as materialized (${arrivals})
     select type, name, current_version as "currentVersion", readable_version as "readableVersion", state,
            state <> all($5::text[]) as "needsOperator", error
       from arrival order by type, name`,
    [...parametersOf([awaited]), hopeful],
  );

/**
 * Returns the places, from 1, of the awaited versions that are still to be waited for: they have not arrived everywhere, and will
 * without the operator. The cost is that of one lookup for each of their destinations.
 */
export async function listPlacesToWaitFor(sql: Sql, awaited: readonly AwaitedVersion[]): Promise<number[]> {
  const rows = await sql.query<{ place: number }>(
    `with arrival as materialized (${arrivals})
     select place::int as place from arrival
      group by place having bool_and(state = any($5::text[])) and not bool_and(state = 'arrived')`,
    [...parametersOf(awaited), hopeful],
  );
  return rows.map(({ place }) => place);
}
