/**
 * SQL condition: the external secret of entry `e`, with `desired` absent, stays in the store. Such an entry waits for itself, so
 * that earlier versions, which would remove the external secret, never claim it.
 */
const isKept = 'e.waits_for = e.id';

/**
 * SQL of whether the removal of entry `e` keeps the external secret: during a purge, and for what a purge that has ended was to
 * remove, the purge decides.
 */
export const keepsSecret = `coalesce(
  (select d.purge_keeps from sync.destinations d where d.id = e.destination_id
      and (d.purge_initiated_at is not null or coalesce(e.removal_requested_at, '-infinity') <= d.purge_ended_at)), ${isKept}, false)`;

/** SQL condition: entry `w` is not achieved yet, so entry `e`, which waits for it, must not be removed. */
export const unachieved = `not coalesce(${isKept}, false) and w.status not in ('SYNCED', 'UNSYNCED')`;

/**
 * SQL condition: entry `e` is to be removed once another one has replaced it, its external secret exists, and intents before that
 * of the removal are not achieved: the secret has changed since.
 */
const isOutdated = `e.desired = 'absent' and e.remote is not null and e.applied_generation < e.generation - 1`;

/**
 * SQL condition: entry `e` must not be claimed because of entry `w`, for which it waits. If that one has failed, an outdated
 * `e` may be claimed to get the newest value, however long the failure lasts.
 */
export const mustWait = `${unachieved} and not (w.status <> 'PENDING' and ${isOutdated})`;

/** Number of entries without room that a removal wakes: it makes room for one external secret, or for several smaller ones. */
const maxWokenByRoom = 10;

/** SQL condition: the scope of destination `p` has room for so few external secrets that its destinations compete for it. */
const hasSmallScope = `p.type in ('codehost', 'webhost-project')`;

/**
 * SQL of a query for the destinations in the array `destinationIds`, and those that share the room of a small scope with
 * them.
 */
const sharingRoom = (destinationIds: string): string =>
  `select id from unnest(${destinationIds}) as given (id)
   union select p.id from unnest(${destinationIds}) as given (id) join sync.destinations d on d.id = given.id
     join sync.destinations p on p.scope_id = d.scope_id and p.type = d.type and ${hasSmallScope}`;

/**
 * SQL of an update that makes the entries due that have waited longest for room, after something was removed in each of the
 * destinations in `destinationIds`. It skips locked entries, so that it cannot deadlock; those are retried later anyway.
 */
export const requeueFull = (destinationIds: string): string =>
  `update sync.entries f set due_at = greatest(now(), f.lease_until), next_attempt_at = null
    where f.id = any(array(
      select waiting.id from (${sharingRoom(destinationIds)}) as freed (id) cross join lateral (
        select e.id, e.updated_at from sync.entries e
         where e.destination_id = freed.id and e.fault = 'full' and e.announced_at is null and e.applied_generation < e.generation
         order by e.updated_at limit ${maxWokenByRoom} for update skip locked) as waiting
       order by waiting.updated_at limit ${maxWokenByRoom} * cardinality(${destinationIds})))`;

/**
 * SQL of an update that makes the entries due that wait for those in `ids`, an SQL array of entries that are achieved or deleted.
 * It skips locked entries, so that it cannot deadlock. None is missed: the holder of the lock
 * makes the entry due, or postpones it only after verifying that the other one is not achieved (`postponeEntry`).
 */
export const requeueWaiting = (ids: string): string =>
  `update sync.entries s
      set due_at = case when s.announced_at is null and s.applied_generation < s.generation
                     then greatest(now(), s.lease_until, s.next_attempt_at) else s.due_at end,
          last_error = null
    where s.id = any(array(select id from sync.entries where waits_for = any(${ids}) for update skip locked))`;

/**
 * SQL of an update that makes the outdated entries due that wait for those in `ids`, an SQL array of entries that have failed. It
 * skips locked entries, as `requeueWaiting` does.
 */
export const requeueOutdated = (ids: string): string =>
  `update sync.entries o set due_at = greatest(now(), o.lease_until, o.next_attempt_at)
    where o.id = any(array(
      select e.id from sync.entries e where e.waits_for = any(${ids}) and not ${isKept} and e.announced_at is null and ${isOutdated} for update skip locked))`;

/** SQL of an array: the IDs of these entries that no other transaction has locked. */
export const unlockedIds = (parameter: string): string =>
  `array(select id from sync.entries where id = any(${parameter}::uuid[]) for update skip locked)`;

/**
 * SQL condition: an entry that is looked up by its ID has a lease. Not `lease_until`: Postgres might then scan the index of
 * all outstanding entries instead, which it does if that index was small when the table was analysed.
 */
export const isLeased = 'lease_owner is not null';

/**
 * SQL: a text that identifies the server and its last start. If it has changed, there may have been a failover or a restore that
 * lost commits that an attempt has seen. The subquery is evaluated once per statement, not per row.
 */
export const serverIdentity = '(select extract(epoch from pg_postmaster_start_time())::text)';

/**
 * SQL: a text that identifies the settings, the credentials and the application of destination `d`; every change gives it a new
 * value. A worker that may not read applications works on no destination that has one.
 */
export const destinationRevision = `d.revision::text || coalesce(
  (select ' ' || a.app_id || ' ' || a.fingerprint || ' ' || a.enterprise_url from sync.codehost_apps a where a.id = d.codehost_app_id), '')`;

/** SQL of what a worker calls destination `d` with, except its ID. */
export const destinationColumns = `d.type, d.name, d.namespace_path as "namespacePath", ${destinationRevision} as revision, d.settings,
  d.sealed_credentials as "sealedCredentials", d.codehost_app_id as "codehostAppId", d.scope_id as "scopeId", coalesce(d.scope_members, '{}') as "scopeMembers"`;

/**
 * SQL condition: entry `e` is unfinished, and nothing would ever make it due: it is neither due nor enqueued nor in progress, and
 * does not wait for another entry, or could not be claimed if it were due. The predicate of the index `entries_stuck`.
 */
export const isStuck = `e.due_at is null and e.announced_at is null and e.lease_until is null
  and e.status in ('PENDING', 'EXTERNAL_SERVICE_ERROR', 'INTERNAL_SERVICE_ERROR') and (e.waits_for is null or e.applied_generation >= e.generation)`;

/**
 * SQL assignments that repeat the work on an entry whose external secret has an unknown value: it is verified, and written in
 * any case where it cannot be read. They record no intent, which a worker may not do.
 */
export const markUncertain = `applied_generation = least(applied_generation, generation - 1), status = 'PENDING', verify = true, pushed_hash = null, repair_of = null,
   fault = null, last_error = null, attempts = 0, next_attempt_at = null, updated_at = now(), requested_at = now(), priority = 1,
   due_at = case when announced_at is null then now() else due_at end`;

/**
 * SQL condition: entry `e` is enqueued or in progress. An entry that is due again is neither: its scheduler or worker died, or
 * its message was lost, and it must not occupy its own window. Nor is one that waits after a lease that has ended.
 */
export const isOutstanding = `((e.announced_at is not null and (e.due_at is null or e.due_at > now())) or e.lease_until > now())`;

/** SQL condition: entry `e` waits for the operator because of what a look has found, as `hasDrifted` says. */
export const isDrifted = `(e.status = 'CLIENT_SIDE_ERROR' and e.fault is null and e.drift <> 'none')`;

/**
 * SQL condition: something may be sent outside: syncing is neither disabled nor held (`HeldBecause`). Whatever makes a
 * worker call a provider asks this in the same statement. The subqueries are evaluated once per statement, not per row.
 */
export const isSyncing =
  '(not exists (select from sync.config where disabled) and not exists (select from sync.held))';
