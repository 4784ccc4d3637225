import type { Sql } from '@secrets/db';
import { beginningsOf } from '@secrets/domain';
import { traceparent } from '@secrets/telemetry';
import type { MountRef } from '../mounts/mount-ref.ts';
import type { Retention, RetentionChange } from '../mounts/retention.ts';
import { recordEvent } from './events/record-event.ts';
import { isWatchedPath } from './match-patterns.ts';
import { enabledMount, rowOfMount, underMount } from './mounts/enabled-mount.ts';
import { nextRevision } from './next-revision.ts';

/** Number, creation and deletion time (milliseconds since the epoch), and whether it is destroyed. */
export type VersionLine = [version: number, createdMs: number, deletionMs: number | null, destroyed: boolean];

/** A secret's metadata, with a line per version. */
export interface MetadataRow extends Retention {
  secretId: string;
  revision: number;
  currentVersion: number;
  oldestVersion: number;
  customMetadata: Record<string, string> | null;
  createdAt: Date;
  updatedAt: Date;
  versions: VersionLine[];
}

const readStatement = `
  with ${enabledMount}
  select s.id as "secretId", s.revision, s.current_version as "currentVersion",
    s.oldest_version as "oldestVersion", s.max_versions as "maxVersions", s.cas_required as "casRequired",
    s.delete_after_seconds as "deleteAfterSeconds", s.custom_metadata as "customMetadata",
    s.created_at as "createdAt", s.updated_at as "updatedAt",
    (select coalesce(json_agg(json_build_array(v.version,
        floor(extract(epoch from v.created_at) * 1000),
        floor(extract(epoch from v.deletion_time) * 1000), v.destroyed) order by v.version), '[]')
      from secrets.versions v
      where v.secret_id = s.id and v.version >= s.oldest_version) as versions
  from mount left join secrets.secrets s on s.mount_id = mount.id and s.path = $4`;

/**
 * Returns undefined if there is no such secret.
 * @throws StaleMountError
 */
export async function findMetadata(
  sql: Sql,
  mount: MountRef,
  path: string,
): Promise<MetadataRow | undefined> {
  const rows = await sql.query<MetadataRow | { secretId: null }>(readStatement, underMount(mount, path));
  const row = rowOfMount(rows);
  return row.secretId === null ? undefined : row;
}

/** Omitted fields keep their values. */
export interface MetadataChange extends RetentionChange {
  customMetadata?: Record<string, string> | undefined;
}

interface MetadataConditions {
  /** The ID of the secret if it is created. */
  secretId: string;
  mayCreate: boolean;
  mayUpdate: boolean;
  /** Write only this secret, and only if it is unchanged since it was read. */
  onlyIf: { secretId: string; revision: number } | null;
}

const writeStatement = `
  with ${enabledMount},
  updated as (
    update secrets.secrets s
    set max_versions = coalesce($5::int, s.max_versions),
        cas_required = coalesce($6::boolean, s.cas_required),
        delete_after_seconds = coalesce($7::bigint, s.delete_after_seconds),
        custom_metadata = coalesce($8::jsonb, s.custom_metadata),
        revision = ${nextRevision},
        updated_at = clock_timestamp()
    from mount
    where s.mount_id = mount.id and s.path = $4 and $11::boolean
      and ($12::uuid is null or s.id = $12::uuid and s.revision = $13::bigint)
    returning s.id, s.current_version
  ),
  inserted as (
    insert into secrets.secrets
      (id, mount_id, path, max_versions, cas_required, delete_after_seconds, custom_metadata)
    select $9::uuid, mount.id, $4, coalesce($5::int, 0), coalesce($6::boolean, false),
      coalesce($7::bigint, 0), $8::jsonb
    from mount
    where $10::boolean and $12::uuid is null
      and not exists (select from secrets.secrets e where e.mount_id = mount.id and e.path = $4)
    on conflict (mount_id, path) do nothing
    returning id
  ),
  event as (
    insert into secrets.outbox (secret_id, traceparent, to_match)
    select id, $14::text, true from updated
    where $8::jsonb is not null and current_version > 0 and ${isWatchedPath('$1::uuid', '$15::text[]')}
    returning id
  ),
  ${recordEvent({
    kind: "case when $12::uuid is null then 'metadata-write' else 'metadata-patch' end",
    mountId: '$1::uuid',
    path: '$4::text',
    from: '(select id from updated union all select id from inserted) s',
  })}
  select exists (select from updated) or exists (select from inserted) as written, exists (select from event) as "eventQueued",
    cas_required as "mountRequiresCas"
  from mount`;

export interface WrittenMetadata {
  /** Whether the mount requires check-and-set, whatever the secret says. */
  mountRequiresCas: boolean;
  /** Whether an event was queued, because rules may match the secret now, or no longer. */
  eventQueued: boolean;
}

/**
 * Sets metadata, creating the secret if needed. Returns undefined if a condition was not met or another writer created the
 * secret at the same time.
 * @throws StaleMountError
 */
export async function upsertMetadata(
  sql: Sql,
  mount: MountRef,
  path: string,
  change: MetadataChange,
  conditions: MetadataConditions,
): Promise<WrittenMetadata | undefined> {
  const rows = await sql.query<WrittenMetadata & { written: boolean }>(writeStatement, [
    ...underMount(mount, path),
    change.maxVersions ?? null,
    change.casRequired ?? null,
    change.deleteAfterSeconds ?? null,
    change.customMetadata === undefined ? null : JSON.stringify(change.customMetadata),
    conditions.secretId,
    conditions.mayCreate,
    conditions.mayUpdate,
    conditions.onlyIf?.secretId ?? null,
    conditions.onlyIf?.revision ?? null,
    traceparent() ?? null,
    beginningsOf(path),
  ]);
  const { written, ...row } = rowOfMount(rows);
  return written ? row : undefined;
}

const deleteStatement = `
  with ${enabledMount},
  deleted as (
    delete from secrets.secrets s using mount
    where s.mount_id = mount.id and s.path = $4
    returning s.id, s.watched
  ),
  event as (
    insert into secrets.outbox (secret_id, traceparent) select id, $5::text from deleted where watched returning id
  ),
  ${recordEvent({ kind: "'metadata-delete'", mountId: '$1::uuid', path: '$4::text', from: 'deleted' })}
  select exists (select from event) as "eventQueued" from mount`;

/**
 * Deletes a secret with all of its versions. Returns whether an event was queued.
 * @throws StaleMountError
 */
export async function deleteMetadata(sql: Sql, mount: MountRef, path: string): Promise<boolean> {
  const rows = await sql.query<{ eventQueued: boolean }>(deleteStatement, [
    ...underMount(mount, path),
    traceparent() ?? null,
  ]);
  return rowOfMount(rows).eventQueued;
}
