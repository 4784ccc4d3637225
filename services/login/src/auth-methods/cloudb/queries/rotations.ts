import { randomInt } from 'node:crypto';
import type { Sql, Tx } from '@secrets/db';

const leaseSeconds = 120;
/** So long after an attempt, the provider lists its password, if there is one. */
const attemptMinutes = 60;

/** The state of the rotation of a mount's secret. */
export interface RotationRow {
  secretSince: Date;
  currentKeyId: string | null;
  pendingKeyId: string | null;
  /** How long ago the pending password was added, in seconds. */
  pendingSeconds: number | null;
  sealedPendingSecret: Uint8Array | null;
  replacedKeyId: string | null;
  retiredKeyId: string | null;
  discardedKeyIds: string[];
  scheduledAt: Date | null;
  failures: number;
}

/** A process that works on a rotation. If another one has taken over since, its writes change nothing. */
export interface Lease {
  mountId: string;
  fence: number;
}

/** Another fence than any before: a number that follows from the row would be used again if its commit is lost. */
const newFence = () => randomInt(2 ** 48 - 1);

const columns = `secret_since as "secretSince", current_key_id as "currentKeyId", pending_key_id as "pendingKeyId",
  floor(extract(epoch from now() - pending_since))::bigint as "pendingSeconds",
  sealed_pending_secret as "sealedPendingSecret", replaced_key_id as "replacedKeyId", retired_key_id as "retiredKeyId",
  discarded_key_ids as "discardedKeyIds", scheduled_at as "scheduledAt", failures`;

/** When the current secret expires; undefined if no rotation added it. */
export async function findSecretExpiry(sql: Sql, mountId: string): Promise<Date | undefined> {
  const text = `select expires_at as "expiresAt" from login.cloudb_rotations where mount_id = $1`;
  return (await sql.query<{ expiresAt: Date | null }>(text, [mountId]))[0]?.expiresAt ?? undefined;
}

/** A mount whose rotation is due. */
export interface DueRotation {
  mountId: string;
  accessor: string;
  namespacePath: string;
}

/** SQL condition: this database may be a copy, which must not change the passwords of the original's applications. */
const held = 'exists (select from sync.held)';

export async function isHeld(sql: Sql): Promise<boolean> {
  const [row] = await sql.query<{ isHeld: boolean }>(`select ${held} as "isHeld"`);
  return row!.isHeld;
}

/** Returns at most `limit` rotations that are due and that no process works on; none while syncing is held. */
export const listDueRotations = (sql: Sql, limit: number): Promise<DueRotation[]> =>
  sql.query(
    `select r.mount_id as "mountId", m.accessor, n.path as "namespacePath"
       from login.cloudb_rotations r
       join login.auth_mounts m on m.id = r.mount_id
       join login.namespaces n on n.id = m.namespace_id
      where r.due_at <= now() and (r.leased_until is null or r.leased_until < now()) and not ${held}
      order by r.due_at limit $1`,
    [limit],
  );

/**
 * Takes the lease of a rotation, and creates its row if it has none. From now on it is due again when the lease ends,
 * in case this process dies. Returns undefined if another process holds the lease.
 */
export async function takeLease(sql: Sql, mountId: string): Promise<Lease | undefined> {
  const [row] = await sql.query<{ fence: number }>(
    `insert into login.cloudb_rotations as r (mount_id, fence, leased_until, due_at)
     values ($1, $3, now() + $2 * interval '1 second', now() + $2 * interval '1 second')
     on conflict (mount_id) do update set fence = excluded.fence, leased_until = excluded.leased_until,
       due_at = excluded.due_at
     where r.leased_until is null or r.leased_until < now()
     returning fence`,
    [mountId, leaseSeconds, newFence()],
  );
  return row === undefined ? undefined : { mountId, fence: row.fence };
}

/** Prolongs the lease, and reads the state. Undefined if the lease is lost. */
export async function renewLease(sql: Sql, { mountId, fence }: Lease): Promise<RotationRow | undefined> {
  const text = `update login.cloudb_rotations set leased_until = now() + $3 * interval '1 second',
      due_at = now() + $3 * interval '1 second'
     where mount_id = $1 and fence = $2 and leased_until > now() returning ${columns}`;
  return (await sql.query<RotationRow>(text, [mountId, fence, leaseSeconds]))[0];
}

/** Ends the lease. `lookAgainSeconds`: when there is more to do; null if that is the next scheduled rotation. */
export async function releaseLease(
  sql: Sql,
  { mountId, fence }: Lease,
  { failures, scheduledAt, lookAgainSeconds }: ReleasedRotation,
): Promise<void> {
  await sql.query(
    `update login.cloudb_rotations set leased_until = null, failures = $3, scheduled_at = $4,
       due_at = coalesce(now() + $5::integer * interval '1 second', $4) where mount_id = $1 and fence = $2`,
    [mountId, fence, failures, scheduledAt, lookAgainSeconds],
  );
}

export interface ReleasedRotation {
  failures: number;
  scheduledAt: Date | null;
  lookAgainSeconds: number | null;
}

/** Records an attempt before it adds a password. */
export async function insertAttempt(sql: Sql, { mountId, fence }: Lease, id: string): Promise<boolean> {
  const text = `insert into login.cloudb_rotation_attempts (id, mount_id)
    select $3, mount_id from login.cloudb_rotations where mount_id = $1 and fence = $2 returning 1`;
  return (await sql.query(text, [mountId, fence, id])).length > 0;
}

/** The IDs of the attempts whose passwords may exist. */
export async function listAttempts(sql: Sql, mountId: string): Promise<string[]> {
  const text = 'select id from login.cloudb_rotation_attempts where mount_id = $1 order by started_at';
  return (await sql.query<{ id: string }>(text, [mountId])).map(({ id }) => id);
}

/** Forgets an attempt whose password is removed. */
export async function deleteAttempt(sql: Sql, id: string): Promise<void> {
  await sql.query('delete from login.cloudb_rotation_attempts where id = $1', [id]);
}

/** Forgets attempts that are so old that their passwords would be listed. */
export async function deleteOldAttempts(sql: Sql, mountId: string): Promise<void> {
  await sql.query(
    `delete from login.cloudb_rotation_attempts
      where mount_id = $1 and started_at < now() - $2 * interval '1 minute'`,
    [mountId, attemptMinutes],
  );
}

/** A password that was added. */
export interface PendingPassword {
  attemptId: string;
  keyId: string;
  expiresAt: Date;
  sealedSecret: Uint8Array;
  /** The ID of the current secret's password, if it is known. */
  replacedKeyId: string | null;
}

/** Stores a password that was added, which ends its attempt. Returns false if the lease is lost. */
export async function storePending(
  sql: Sql,
  { mountId, fence }: Lease,
  { attemptId, keyId, expiresAt, sealedSecret, replacedKeyId }: PendingPassword,
): Promise<boolean> {
  const rows = await sql.query(
    `with stored as (
       update login.cloudb_rotations set pending_key_id = $4, pending_since = now(), pending_expires_at = $5,
         sealed_pending_secret = $6, replaced_key_id = $7
       where mount_id = $1 and fence = $2 returning 1)
     delete from login.cloudb_rotation_attempts where id = $3 and exists (select from stored) returning 1`,
    [mountId, fence, attemptId, keyId, expiresAt, sealedSecret, replacedKeyId],
  );
  return rows.length > 0;
}

/** A pending password that becomes the current one. */
export interface PromotedPassword {
  keyId: string;
  sealedSecret: Uint8Array;
  /** The password that is to be removed; null if none is. */
  retiredKeyId: string | null;
}

/**
 * Makes the pending secret the current one, in the configuration, too. Returns false if the lease is lost, or if the
 * secret was written since.
 */
export async function promotePending(
  tx: Tx,
  { mountId, fence }: Lease,
  { keyId, sealedSecret, retiredKeyId }: PromotedPassword,
): Promise<boolean> {
  const rows = await tx.query(
    `update login.cloudb_rotations set current_key_id = pending_key_id, expires_at = pending_expires_at,
       secret_since = now(), retired_key_id = $4, pending_key_id = null, pending_since = null, pending_expires_at = null,
       sealed_pending_secret = null, replaced_key_id = null
     where mount_id = $1 and fence = $2 and pending_key_id = $3 returning 1`,
    [mountId, fence, keyId, retiredKeyId],
  );
  if (rows.length === 0) return false;
  await tx.query(
    'update login.cloudb_configs set sealed_client_secret = $2, updated_at = now() where mount_id = $1',
    [mountId, sealedSecret],
  );
  return true;
}

/** Discards the pending password, which is removed later. */
export async function discardPending(sql: Sql, { mountId, fence }: Lease): Promise<void> {
  await sql.query(
    `update login.cloudb_rotations set ${discarded} where mount_id = $1 and fence = $2 and pending_key_id is not null`,
    [mountId, fence],
  );
}

const discarded = `discarded_key_ids = case when cloudb_rotations.pending_key_id is null
    then cloudb_rotations.discarded_key_ids
    else cloudb_rotations.discarded_key_ids || cloudb_rotations.pending_key_id end,
  pending_key_id = null, pending_since = null, pending_expires_at = null, sealed_pending_secret = null, replaced_key_id = null`;

/** Forgets a password that was removed. */
export async function forgetRemoved(sql: Sql, { mountId, fence }: Lease, keyId: string): Promise<void> {
  await sql.query(
    `update login.cloudb_rotations set discarded_key_ids = array_remove(discarded_key_ids, $3),
       retired_key_id = nullif(retired_key_id, $3) where mount_id = $1 and fence = $2`,
    [mountId, fence, keyId],
  );
}

/** Since when a secret is the current one, and when its next scheduled rotation begins. */
export type RecordedSecret = Pick<RotationRow, 'secretSince' | 'scheduledAt'>;

/**
 * Records that the secret of a configuration was written: what was known about the one before no longer applies, and
 * nothing is removed that may be the new one. A process that works on a rotation loses its lease. Without
 * `isNewSecret`, only creates the row. Keeps the row from being changed before the transaction ends.
 */
export async function recordSecret(tx: Tx, mountId: string, isNewSecret: boolean): Promise<RecordedSecret> {
  const [row] = await tx.query<RecordedSecret>(
    `insert into login.cloudb_rotations (mount_id, fence) values ($1, $2)
     on conflict (mount_id) do update set ${
       isNewSecret
         ? `secret_since = now(), current_key_id = null, expires_at = null,
       retired_key_id = null, failures = 0, fence = excluded.fence, leased_until = null, ${discarded}`
         : 'mount_id = excluded.mount_id'
     }
     returning secret_since as "secretSince", scheduled_at as "scheduledAt"`,
    [mountId, newFence()],
  );
  return row!;
}

/** Sets when the next scheduled rotation begins. Unfinished work is looked at right away. */
export async function setSchedule(tx: Tx, mountId: string, scheduledAt: Date | null): Promise<void> {
  await tx.query(
    `update login.cloudb_rotations r set scheduled_at = $2, due_at = case
       when pending_key_id is not null or retired_key_id is not null or discarded_key_ids <> '{}'
         or exists (select from login.cloudb_rotation_attempts a where a.mount_id = r.mount_id) then now()
       else $2 end
     where mount_id = $1`,
    [mountId, scheduledAt],
  );
}

/** Forgets everything about a secret that was removed. */
export async function deleteRotation(tx: Tx, mountId: string): Promise<void> {
  await tx.query('delete from login.cloudb_rotations where mount_id = $1', [mountId]);
}
