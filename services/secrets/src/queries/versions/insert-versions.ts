import type { Sql } from '@secrets/db';
import type { MountRef } from '../../mounts/mount-ref.ts';
import { recordEvent } from '../events/record-event.ts';
import {
  changedSecret,
  mayChange,
  type NewVersion,
  nextVersion,
  type WrittenVersion,
  writtenVersion,
} from './insert-version.ts';

/** A version of a secret that is to be written. */
export interface VersionToWrite {
  mount: MountRef;
  path: string;
  given: Omit<NewVersion, 'onlyIf'>;
}

// Secrets are locked without waiting, so that a batch neither waits for another writer nor deadlocks with another batch.
const statement = `
  with writes as (
    select * from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::uuid[], $6::bytea[], $7::int[], $8::boolean[],
      $9::boolean[], $10::text[]) with ordinality
      as w(mount_id, namespace_id, mount_path, path, version_id, sealed, cas, may_create, may_update, traceparent, at)
  ), mount as (
    select w.*, m.max_versions, m.cas_required, m.delete_after_seconds, s.id as secret_id
    from writes w
    cross join lateral (
      select max_versions, cas_required, delete_after_seconds from secrets.mounts
      where id = w.mount_id and namespace_id = w.namespace_id and path = w.mount_path and disabled_at is null
      limit 1
    ) m
    cross join lateral (
      select id from secrets.secrets where mount_id = w.mount_id and path = w.path and current_version > 0
      for no key update skip locked
    ) s
  ), updated as (
    update secrets.secrets s
    set ${nextVersion}
    from mount
    where s.id = mount.secret_id and ${mayChange('mount.cas', 'mount.may_create', 'mount.may_update')}
    returning ${changedSecret}, mount.at, mount.version_id, mount.sealed, mount.traceparent
  ), secret as (
    select *, updated_at + make_interval(secs => lifetime) as deletion_time from updated
  ), written as (
    insert into secrets.versions (secret_id, version, id, sealed, created_at, deletion_time, expires_at)
    select id, current_version, version_id, sealed, updated_at, deletion_time, deletion_time from secret
  ), pruned as (
    delete from secrets.versions v using secret
    where v.secret_id = secret.id and v.version < secret.oldest_version
  ), event as (
    insert into secrets.outbox (secret_id, traceparent) select id, traceparent from secret where watched
  ),
  ${recordEvent({
    kind: "'data-write'",
    mountId: 'secret.mount_id',
    path: 'secret.path',
    currentVersion: 'secret.current_version',
    oldestVersion: 'secret.oldest_version',
    from: 'secret',
  })}
  select at, ${writtenVersion} as watched from secret`;

/**
 * Writes the next versions of several existing secrets, in the order of the writes. Undefined where nothing was written: the
 * secret does not exist or has no version yet, another writer has locked it, its mount is no longer enabled at its path, or a
 * condition was not met. `insertVersion` decides about these. A secret may occur once.
 */
export async function insertVersions(
  sql: Sql,
  writes: readonly VersionToWrite[],
): Promise<(WrittenVersion | undefined)[]> {
  const rows = await sql.query<WrittenVersion & { at: number }>(statement, [
    writes.map(({ mount }) => mount.id),
    writes.map(({ mount }) => mount.namespaceId),
    writes.map(({ mount }) => mount.path),
    writes.map(({ path }) => path),
    writes.map(({ given }) => given.versionId),
    writes.map(({ given }) => given.sealed),
    writes.map(({ given }) => given.cas),
    writes.map(({ given }) => given.mayCreate),
    writes.map(({ given }) => given.mayUpdate),
    writes.map(({ given }) => given.traceparent),
  ]);
  const written: (WrittenVersion | undefined)[] = writes.map(() => undefined);
  for (const { at, ...row } of rows) written[at - 1] = row;
  return written;
}
