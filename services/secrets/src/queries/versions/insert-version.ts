import type { Sql } from '@secrets/db';
import { beginningsOf } from '@secrets/domain';
import type { MountRef } from '../../mounts/mount-ref.ts';
import { recordEvent } from '../events/record-event.ts';
import { isWatchedPath } from '../match-patterns.ts';
import { enabledMount, lifetime, rowOfMount, underMount } from '../mounts/enabled-mount.ts';
import { nextRevision } from '../next-revision.ts';

/** A version to be written, and the conditions for writing it. */
export interface NewVersion {
  /** The ID of the secret if it is created. */
  secretId: string;
  versionId: string;
  sealed: Uint8Array;
  /** The version that the writer expects to be current, 0 for none; null if it does not say. */
  cas: number | null;
  mayCreate: boolean;
  mayUpdate: boolean;
  /** Write only this secret, and only if it is unchanged since it was read. */
  onlyIf: { secretId: string; revision: number } | null;
  /** Of the request. */
  traceparent: string | null;
}

export interface WrittenVersion {
  version: number;
  createdAt: Date;
  deletionTime: Date | null;
  customMetadata: Record<string, string> | null;
  /** Whether an event was queued. */
  watched: boolean;
}

const keptVersions = 'coalesce(nullif(s.max_versions, 0), nullif(mount.max_versions, 0), 10)';

/** The changes of the secret `s` of a mount that gets another version, and what else the statement needs of it. */
export const nextVersion = `current_version = s.current_version + 1,
        oldest_version = case when s.current_version + 1 > ${keptVersions}
          then greatest(s.oldest_version, s.current_version + 2 - ${keptVersions}) else s.oldest_version end,
        revision = ${nextRevision},
        updated_at = clock_timestamp()`;
export const changedSecret = `s.id, s.current_version, s.oldest_version, s.updated_at, s.custom_metadata, s.watched,
      ${lifetime} as lifetime, s.mount_id, s.path`;

/** The columns of `WrittenVersion`; the last one has no name yet. */
export const writtenVersion = `secret.current_version as version, secret.updated_at as "createdAt",
    secret.deletion_time as "deletionTime", secret.custom_metadata as "customMetadata", secret.watched`;

/** Whether the secret `s` of a mount may get another version, under the conditions of the writer. */
export const mayChange = (cas: string, mayCreate: string, mayUpdate: string) => `(
      (${cas} = s.current_version or ${cas} is null and not (s.cas_required or mount.cas_required))
      and case when s.current_version = 0 then ${mayCreate} else ${mayUpdate} end)`;

// Rules are looked for only with the first version: before, there is nothing to sync, and later, the path is the same.
// Concurrent writers of one secret wait for each other at the update, which then evaluates its conditions and new values
// against the committed row. A version number is therefore never used twice.
const statement = `
  with ${enabledMount},
  updated as (
    update secrets.secrets s
    set ${nextVersion}
    from mount
    where s.mount_id = mount.id and s.path = $4
      and ${mayChange('$8::int', '$9::boolean', '$10::boolean')}
      and ($11::uuid is null or s.id = $11::uuid and s.revision = $12::bigint)
    returning ${changedSecret}
  ),
  inserted as (
    insert into secrets.secrets as s (id, mount_id, path, current_version)
    select $5::uuid, mount.id, $4, 1
    from mount
    where $9::boolean and $11::uuid is null
      and ($8::int = 0 or $8::int is null and not mount.cas_required)
      and not exists (select from secrets.secrets e where e.mount_id = mount.id and e.path = $4)
    on conflict (mount_id, path) do nothing
    returning s.id, s.current_version, s.oldest_version, s.updated_at, s.custom_metadata, s.watched,
      (select nullif(delete_after_seconds, 0) from mount) as lifetime, s.mount_id, s.path
  ),
  secret as (
    select *, updated_at + make_interval(secs => lifetime) as deletion_time
    from (select * from updated union all select * from inserted) s
  ),
  written as (
    insert into secrets.versions (secret_id, version, id, sealed, created_at, deletion_time, expires_at)
    select id, current_version, $6::uuid, $7::bytea, updated_at, deletion_time, deletion_time from secret
  ),
  pruned as (
    delete from secrets.versions v using secret
    where v.secret_id = secret.id and v.version < secret.oldest_version
  ),
  matched as (
    select id from secret where current_version = 1 and ${isWatchedPath('$1::uuid', '$14::text[]')}
  ),
  event as (
    insert into secrets.outbox (secret_id, traceparent, to_match)
    select s.id, $13::text, m.id is not null from secret s left join matched m on true where (s.watched or m.id is not null)
  ),
  ${recordEvent({
    kind: "case when $11::uuid is null then 'data-write' else 'data-patch' end",
    mountId: 'secret.mount_id',
    path: 'secret.path',
    currentVersion: 'secret.current_version',
    oldestVersion: 'secret.oldest_version',
    from: 'secret',
  })}
  select ${writtenVersion} or exists (select from matched) as watched
  from mount left join secret on true`;

/**
 * Writes the next version, prunes the oldest and queues an event, all in one statement. Returns undefined if
 * a condition was not met or another writer created the secret at the same time.
 * @throws StaleMountError
 */
export async function insertVersion(
  sql: Sql,
  mount: MountRef,
  path: string,
  given: NewVersion,
): Promise<WrittenVersion | undefined> {
  const rows = await sql.query<WrittenVersion | { version: null }>(statement, [
    ...underMount(mount, path),
    given.secretId,
    given.versionId,
    given.sealed,
    given.cas,
    given.mayCreate,
    given.mayUpdate,
    given.onlyIf?.secretId ?? null,
    given.onlyIf?.revision ?? null,
    given.traceparent,
    beginningsOf(path),
  ]);
  const row = rowOfMount(rows);
  return row.version === null ? undefined : row;
}

export interface WriteState {
  exists: boolean;
  /** 0 if the secret does not exist or has no version yet. */
  currentVersion: number;
  casRequired: boolean;
}

/**
 * Returns the state against which the conditions of a write are evaluated, to say why it was refused.
 * @throws StaleMountError
 */
export async function readWriteState(sql: Sql, mount: MountRef, path: string): Promise<WriteState> {
  const rows = await sql.query<WriteState>(
    `with ${enabledMount}
     select s.id is not null as "exists", coalesce(s.current_version, 0) as "currentVersion",
       mount.cas_required or coalesce(s.cas_required, false) as "casRequired"
     from mount left join secrets.secrets s on s.mount_id = mount.id and s.path = $4`,
    underMount(mount, path),
  );
  return rowOfMount(rows);
}
