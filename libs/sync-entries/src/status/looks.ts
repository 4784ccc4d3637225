import type { Sql } from '@secrets/db';
import type { Drift, Evidence, Json, SyncStatus } from '@secrets/domain';
import { isPausedNow } from '../scheduling/lanes.ts';
import { isDrifted, isSyncing } from '../sql-fragments.ts';

/** An entry as a look at its external secret begins. */
export interface InspectedEntry {
  id: string;
  destinationId: string;
  subKey: string;
  externalName: string;
  /** Identify what the look is about: its outcome is not recorded once an attempt or an intent has changed them. */
  generation: number;
  fence: number;
  /** When the look before proved something, in full precision: an older look must not hide a newer one. */
  verifiedAt: string | null;
  /** `SYNCED`, or `CLIENT_SIDE_ERROR` because of what an earlier look has found. */
  status: SyncStatus;
  /** The drift that an earlier look has found; null if there is none. */
  drift: Drift | null;
  lastError: string | null;
  /** The keyed hash of the value that was last pushed. */
  pushedHash: string;
  /** Identifies the settings that it was pushed with. */
  settingsHash: string | null;
  remote: Json | null;
  putStartedAt: Date | null;
  /** Whether the last attempt is so long ago that a read shows what it has left. */
  isSettled: boolean;
}

/**
 * Minutes after an attempt for which a read may be older than it. The longest lag that a provider documents
 * (https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_ListSecrets.html).
 */
export const settlingMinutes = 5;

/** SQL condition: entry `e` was pushed, nothing was requested since, and no worker has it. */
export const isInspectable = `e.desired = 'present' and (e.status = 'SYNCED' or ${isDrifted}) and e.pushed_hash is not null
  and e.applied_generation >= e.generation and e.lease_owner is null`;

/** SQL condition: entry `e` can be inspected, and nothing has found it changed. */
const isUnchangedSoFar = `${isInspectable} and coalesce(e.drift, 'none') = 'none'`;

/** An entry that can be inspected, and its last look in full precision. */
export interface Inspectable {
  id: string;
  lookedAt: string | null;
}

/**
 * Returns the entries of an association that can be inspected, those first that were not verified for longest, at most `limit`.
 */
export const listInspectable = (sql: Sql, associationId: string, limit: number): Promise<Inspectable[]> =>
  sql.query<Inspectable>(
    `select id, looked_at::text as "lookedAt" from sync.entries e where association_id = $1 and ${isInspectable}
      order by greatest(verified_at, looked_at) nulls first, id limit $2`,
    [associationId, limit],
  );

/** Returns undefined if there is nothing to look at now, the destination is paused, or syncing is disabled or held. */
export async function findInspectable(sql: Sql, entryId: string): Promise<InspectedEntry | undefined> {
  const [row] = await sql.query<InspectedEntry>(
    `select e.id, e.destination_id as "destinationId", e.sub_key as "subKey", e.external_name as "externalName", e.generation, e.fence,
            e.verified_at::text as "verifiedAt", e.status, e.drift, e.last_error as "lastError", e.pushed_hash as "pushedHash", e.settings_hash as "settingsHash", e.remote, e.put_started_at as "putStartedAt",
            coalesce(e.synced_at < now() - ${settlingMinutes} * interval '1 minute', false) as "isSettled"
       from sync.entries e join sync.destinations d on d.id = e.destination_id and d.deleted_at is null
      where e.id = $1 and ${isInspectable} and not ${isPausedNow('d.id', 'd.lane_id')} and ${isSyncing}`,
    [entryId],
  );
  return row;
}

/** Whether external secrets of a destination may be looked at now: it is not paused, and syncing is neither disabled nor held. */
export async function mayBeLookedAt(sql: Sql, destinationId: string): Promise<boolean> {
  const rows = await sql.query(
    `select d.id from sync.destinations d
      where d.id = $1 and d.deleted_at is null and not ${isPausedNow('d.id', 'd.lane_id')} and ${isSyncing}`,
    [destinationId],
  );
  return rows.length > 0;
}

/** SQL condition: entry `e` is still the one that was looked at: nothing was written or requested since. */
const isSame = `e.id = $1 and e.generation = $2 and e.fence = $3 and ${isInspectable}`;

type Looked = Pick<InspectedEntry, 'id' | 'generation' | 'fence'>;

/** The state in which a look leaves its entry. */
export interface LookOutcome {
  drift: Drift;
  evidence: Evidence | null;
  /** `PENDING` makes the entry due again, without a new intent: a worker may not record one. */
  status: SyncStatus;
  /** Its `last_error`; null unless it waits for the operator. */
  error: string | null;
  /** State of the external secret to store in place of the entry's; absent if that remains. */
  remote?: Json;
}

/** SQL of the time so many milliseconds ago. */
const readAt = (ageMs: string): string => `now() - ${ageMs}::float8 * interval '1 millisecond'`;

/** SQL of a column that changes only if the entry becomes due again. */
const ifDue = (column: string, value: string): string =>
  `${column} = case when $6 = 'PENDING' then ${value} else e.${column} end`;

/**
 * Records what a look has proved, unless the entry has changed, or another look has proved something, since it began. Returns
 * whether it was recorded.
 * @param ageMs how long ago the store began to be read: what was written there since may be unseen
 */
export async function recordLook(
  sql: Sql,
  { id, generation, fence, verifiedAt }: Looked & Pick<InspectedEntry, 'verifiedAt'>,
  { drift, evidence, status, error, remote = null }: LookOutcome,
  ageMs = 0,
): Promise<boolean> {
  const rows = await sql.query(
    `update sync.entries e
        set looked_at = now(), look_error = null, verified_at = ${readAt('$10')}, drift = $4, evidence = $5, repair_of = null,
            drift_seen_at = case when $4 = 'none' then null when e.drift = $4 then coalesce(e.drift_seen_at, now()) else now() end,
            status = $6, last_error = case when $6 = 'SYNCED' then e.remote ->> 'notice' else $7 end,
            updated_at = case when e.status = $6 then e.updated_at else now() end, remote = coalesce($9::jsonb, e.remote),
            ${ifDue('applied_generation', 'least(e.applied_generation, e.generation - 1)')},
            ${ifDue('due_at', 'case when e.announced_at is null then now() else e.due_at end')},
            ${ifDue('requested_at', 'now()')}, ${ifDue('priority', '2')}
      where ${isSame} and e.verified_at is not distinct from $8::timestamptz returning e.id`,
    [
      id,
      generation,
      fence,
      drift,
      evidence,
      status,
      error,
      verifiedAt,
      remote === null ? null : JSON.stringify(remote),
      ageMs,
    ],
  );
  return rows.length === 1;
}

/** An entry without drift, as a list that may show its external secret is read. */
export type ListedEntry = Pick<
  InspectedEntry,
  'id' | 'destinationId' | 'externalName' | 'generation' | 'fence' | 'remote' | 'putStartedAt'
>;

/** Returns those of these entries of which a list may show that they are unchanged; none while nothing may be looked at. */
export const findListed = (sql: Sql, ids: readonly string[]): Promise<ListedEntry[]> =>
  sql.query<ListedEntry>(
    // The limit forces one lookup by primary key for each entry.
    `select found.* from unnest($1::uuid[]) as wanted (id) cross join lateral (
       select e.id, e.destination_id as "destinationId", e.external_name as "externalName", e.generation, e.fence, e.remote,
              e.put_started_at as "putStartedAt"
         from sync.entries e join sync.destinations d on d.id = e.destination_id and d.deleted_at is null
        where e.id = wanted.id and ${isUnchangedSoFar} and not ${isPausedNow('d.id', 'd.lane_id')}
          and ${isSyncing} limit 1) as found`,
    [ids],
  );

/**
 * Records that a list shows these entries as they were pushed. Those that have changed since they were read are left out.
 * @param ageMs how long ago the list began to be read
 */
export async function recordListed(sql: Sql, entries: readonly ListedEntry[], ageMs = 0): Promise<void> {
  await sql.query(
    `update sync.entries e
        set looked_at = now(), look_error = null, verified_at = greatest(verified_at, ${readAt('$4')}), drift = 'none', evidence = 'mark'
       from unnest($1::uuid[], $2::bigint[], $3::bigint[]) as seen (id, generation, fence)
      where e.id = any($1::uuid[]) and e.id = seen.id and e.generation = seen.generation and e.fence = seen.fence and ${isUnchangedSoFar}`,
    [
      entries.map(({ id }) => id),
      entries.map(({ generation }) => generation),
      entries.map(({ fence }) => fence),
      ageMs,
    ],
  );
}

/** Records why a look has proved nothing. What earlier ones have proved remains. */
export async function recordFailedLook(
  sql: Sql,
  { id, generation, fence }: Looked,
  error: string,
): Promise<void> {
  await sql.query(`update sync.entries e set looked_at = now(), look_error = $4 where ${isSame}`, [
    id,
    generation,
    fence,
    error,
  ]);
}

/** The outcome of a look that was requested; the error is null if it has proved something. */
export interface EndedLook {
  id: string;
  externalName: string;
  error: string | null;
}

/**
 * Returns which of these entries need not be waited for: they were looked at since they were listed, or have changed, so that
 * they are pushed. The time of a look only serves to recognise it: the clock may have been set back.
 */
export const endedLooks = (sql: Sql, requested: readonly Inspectable[]): Promise<EndedLook[]> =>
  sql.query<EndedLook>(
    // The limit forces one lookup by primary key for each entry.
    `select found.* from unnest($1::uuid[], $2::timestamptz[]) as requested (id, looked_at) cross join lateral (
       select e.id, e.external_name as "externalName",
              case when e.looked_at is distinct from requested.looked_at then e.look_error
                   else 'it has changed meanwhile and is pushed' end as error
         from sync.entries e
        where e.id = requested.id and (e.looked_at is distinct from requested.looked_at or not (${isInspectable})) limit 1) as found`,
    [requested.map(({ id }) => id), requested.map(({ lookedAt }) => lookedAt)],
  );
