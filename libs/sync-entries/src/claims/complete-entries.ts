import type { Db, Sql } from '@secrets/db';
import type { FaultKind, Json, SyncStatus } from '@secrets/domain';
import {
  isLeased,
  requeueFull,
  requeueOutdated,
  requeueWaiting,
  serverIdentity,
  unlockedIds,
} from '../sql-fragments.ts';
import { actionOf, type ClaimedEntry } from './claim-entries.ts';
import { recordOutcomes } from './history.ts';
import { wakeRivals } from './rivals.ts';

type Held = Pick<ClaimedEntry, 'id' | 'fence' | 'server' | 'generation' | 'attempts'>;

type HeldRemoval = Held & Pick<ClaimedEntry, 'associationId' | 'isKept' | 'pushedHash' | 'remote'>;

/** Result of a completed attempt. */
export interface AttemptResult {
  status: SyncStatus;
  /** Keyed hash of the value that the external secret has; null if the external secret was removed. */
  pushedHash: string | null;
  settingsHash: string | null;
  /** Its field `notice`, if it has one, becomes the entry's `last_error`. */
  remote: Json | null;
  /** Whether the attempt has written the value, or compared it with the store's; default false. */
  isVerified?: boolean;
}

/**
 * SQL condition: a claim was committed on another server, or before a restart of this one. `server` is SQL of
 * `ClaimedEntry.server`.
 */
const isElsewhere = (server: string): string => `((${server} <> ${serverIdentity}) is true)`;

/** SQL condition: the row `done` does not achieve the newest intent of entry `e`. */
const isUnfinished = '(e.generation > done.generation or done.elsewhere)';

/**
 * SQL of a column that shows what a look has found, after the row `done` was achieved: `verified` if the value was written or
 * compared, and null if the external secret was removed.
 */
const afterPut = (column: string, verified: string): string =>
  `case when done.pushed_hash is null then null when done.verified then ${verified} else e.${column} end`;

/**
 * Records the successes of attempts whose leases still hold, also in the history, and returns the IDs of their entries. An
 * entry that received a newer intent in the meantime becomes due again immediately, and so do entries that waited for an
 * achieved one. So does, to be verified, an entry that was claimed on another server: a later intent, and the value that was
 * pushed, may be lost. An entry whose claim was lost is not written (`verifyAgain`). With `skipLocked`, the default for
 * several, entries that a transaction has locked are left out too: a statement that holds one row while it waits for another
 * risks a deadlock. Complete those one at a time.
 */
export async function completeEntries(
  sql: Sql,
  completed: readonly { held: Held; achieved: AttemptResult }[],
  { skipLocked = completed.length > 1 } = {},
): Promise<Set<string>> {
  const rows = await sql.query<{ id: string }>(
    `with completed as (
      update sync.entries e
        set applied_generation = least(done.generation, e.generation - done.elsewhere::int),
            status = case when ${isUnfinished} then 'PENDING' else done.status end,
            due_at = case when ${isUnfinished} then now() end,
            verify = done.elsewhere or (verify and e.generation > done.generation),
            overwrite = overwrite and ${isUnfinished},
            pushed_hash = done.pushed_hash, settings_hash = done.settings_hash, remote = done.remote::jsonb,
            put_started_at = case when done.pushed_hash is not null then e.put_started_at end,
            verified_at = ${afterPut('verified_at', 'now()')}, drift = ${afterPut('drift', `'none'`)},
            drift_seen_at = ${afterPut('drift_seen_at', 'null')}, evidence = ${afterPut('evidence', 'null')},
            attempts = 0, outcomes = outcomes + 1, next_attempt_at = null, announced_at = null, lease_owner = null, lease_until = null,
            fault = null, last_error = done.remote::jsonb ->> 'notice', synced_at = now(), updated_at = now()
       from (select id, fence, generation, status, pushed_hash, settings_hash, remote, attempts, verified, ${isElsewhere('server')} as elsewhere
               from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[], $9::text[], $10::bool[])
                      as given (id, fence, generation, status, pushed_hash, settings_hash, remote, attempts, server, verified)) as done
      where e.id = any(${skipLocked ? unlockedIds('$1') : '$1::uuid[]'}) and e.id = done.id and e.fence = done.fence and ${isLeased}
      returning e.id, e.destination_id, e.status as reached, e.outcomes, e.destination_type, done.status, done.attempts,
                case when done.pushed_hash is null then 'remove' else 'put' end as action, null::text as fault, null::text as error, e.repair_of),
     recorded as (${recordOutcomes('completed')}),
     woken as (${requeueWaiting(`array(select id from completed where reached <> 'PENDING')`)} and s.id <> all($1::uuid[])),
     given_room as (${requeueFull(`array(select destination_id from completed where action = 'remove')`)} and f.id <> all($1::uuid[]))
     select id from completed`,
    [
      completed.map(({ held }) => held.id),
      completed.map(({ held }) => held.fence),
      completed.map(({ held }) => held.generation),
      completed.map(({ achieved }) => achieved.status),
      completed.map(({ achieved }) => achieved.pushedHash),
      completed.map(({ achieved }) => achieved.settingsHash),
      completed.map(({ achieved }) => (achieved.remote === null ? null : JSON.stringify(achieved.remote))),
      completed.map(({ held }) => held.attempts + 1),
      completed.map(({ held }) => held.server),
      completed.map(({ achieved }) => achieved.isVerified ?? false),
    ],
  );
  return new Set(rows.map(({ id }) => id));
}

/**
 * Records that the external secret of an entry with `desired` absent is deleted, or released if it is kept: deletes the row, and
 * with the last row of an association that is being removed the association. Makes entries due that waited for it, or for room.
 * If the entry was set again in the meantime, the row stays and is due; it still remembers an external secret that exists.
 * Returns whether the lease still held.
 */
export function completeRemoval(db: Db, held: HeldRemoval): Promise<boolean> {
  return db.transaction(async (tx) => {
    // Locked first: of two workers that remove the last two entries, one must see that no entry is left.
    await tx.query('select id from sync.associations where id = $1 for update', [held.associationId]);
    const [deleted] = await tx.query<{
      destination_id: string;
      collision_key: string;
      may_have_rivals: boolean;
    }>(
      `delete from sync.entries where id = $1 and fence = $2 and generation = $3 and ${isLeased} returning destination_id, collision_key,
         (select place is not null from sync.destinations d where d.id = destination_id) as may_have_rivals`,
      [held.id, held.fence, held.generation],
    );
    if (deleted === undefined) {
      const { isKept, pushedHash, remote } = held;
      const left = isKept ? { pushedHash, remote } : { pushedHash: null, remote: null };
      const setAgain = { status: 'UNSYNCED', settingsHash: null, ...left } as const;
      return (await completeEntries(tx, [{ held, achieved: setAgain }])).has(held.id);
    }
    await tx.query(requeueWaiting('array[$1::uuid]'), [held.id]);
    await tx.query(requeueFull('array[$1::uuid]'), [deleted.destination_id]);
    if (deleted.may_have_rivals) await wakeRivals(tx, deleted.destination_id, [deleted.collision_key]);
    await tx.query(
      `delete from sync.associations a
        where id = $1 and removing and not exists (select from sync.entries e where e.association_id = a.id)`,
      [held.associationId],
    );
    return true;
  });
}

/**
 * Records that a put is about to write the external secret of an entry, if its lease still holds; returns whether it does. What
 * was recorded first remains until the external secret is removed, a put fails with `conflict`, or `forgetPutStart`. To be
 * called only after the put has found that it may write: a crash right after this call must not make a foreign secret look like
 * this entry's.
 */
export async function recordPutStart(sql: Sql, held: Pick<Held, 'id' | 'fence'>): Promise<boolean> {
  const rows = await sql.query(
    `update sync.entries e
        set put_started_at = case when d.scope_confirmed_at > e.put_started_at then now() else coalesce(e.put_started_at, now()) end
       from sync.destinations d
      where e.id = $1 and e.fence = $2 and e.lease_until > now() and d.id = e.destination_id
      returning e.id`,
    [held.id, held.fence],
  );
  return rows.length === 1;
}

/**
 * Records the `remote` that later attempts get, if the lease of the entry still holds; returns whether it does. To be called only
 * after the put has found that it may write.
 */
export async function recordRemote(
  sql: Sql,
  held: Pick<Held, 'id' | 'fence'>,
  remote: Json,
): Promise<boolean> {
  const rows = await sql.query(
    `update sync.entries set remote = $3::jsonb
      where id = $1 and fence = $2 and lease_until > now()
      returning id`,
    [held.id, held.fence, JSON.stringify(remote)],
  );
  return rows.length === 1;
}

/** Forgets the start of a put that has written nothing, if its lease still holds. */
export async function forgetPutStart(sql: Sql, held: Pick<Held, 'id' | 'fence'>): Promise<void> {
  await sql.query(
    'update sync.entries set put_started_at = null where id = $1 and fence = $2 and lease_until > now()',
    [held.id, held.fence],
  );
}

/** Reason why an attempt failed, and when the next one takes place. */
interface FailedAttempt {
  status: SyncStatus;
  fault: FaultKind | null;
  /** The service's own wording, never the provider's response. */
  error: string;
  /** Seconds until the next attempt; null if the entry waits for the operator or for a new intent. */
  retryInSeconds: number | null;
}

/** SQL condition: the failure of the claim with generation `$3`, committed on server `$10`, is one of the newest intent. */
const isCurrent = `(generation = $3 and not ${isElsewhere('$10::text')})`;

/**
 * Records a failure, also in the history, and ends the lease, if it still holds; returns whether it did. A newer intent is
 * tried immediately, and verified, since this attempt may have written something; so is an entry that was claimed on another
 * server. Entries that wait for this one and are outdated become due, to get the newest value. A `conflict` says
 * that the external secret is not this entry's, whatever a put has started before.
 */
export async function failEntry(
  sql: Sql,
  held: Held & Pick<ClaimedEntry, 'desired' | 'isRefreshed'>,
  failed: FailedAttempt,
): Promise<boolean> {
  const rows = await sql.query(
    `with failed as (
      update sync.entries
        set status = case when ${isCurrent} then $4 else 'PENDING' end,
            fault = $5, last_error = $6,
            applied_generation = case when $7::float8 is null and ${isCurrent} then generation else applied_generation end,
            next_attempt_at = case when ${isCurrent} then now() + $7::float8 * interval '1 second' end,
            due_at = case when ${isCurrent} then now() + $7::float8 * interval '1 second' else now() end,
            priority = case when ${isCurrent} then 1 else priority end,
            put_started_at = case when $5 is distinct from 'conflict' then put_started_at end,
            verify = verify or not ${isCurrent}, pushed_hash = case when ${isCurrent} then pushed_hash end,
            outcomes = case when fault is not distinct from $5 and last_error is not distinct from $6 then outcomes else outcomes + 1 end,
            announced_at = null, lease_owner = null, lease_until = null, updated_at = now()
      where id = $1 and fence = $2 and ${isLeased}
      returning id, outcomes, destination_type, $8::text as action, $4 as status, $5 as fault, $6 as error, $9::int as attempts, repair_of),
     recorded as (${recordOutcomes('failed')}),
     refreshed as (${requeueOutdated('array(select id from failed)')})
     select id from failed`,
    [
      held.id,
      held.fence,
      held.generation,
      failed.status,
      failed.fault,
      failed.error,
      failed.retryInSeconds,
      actionOf(held),
      held.attempts + 1,
      held.server,
    ],
  );
  return rows.length === 1;
}
