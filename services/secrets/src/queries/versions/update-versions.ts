import type { Sql } from '@secrets/db';
import { traceparent } from '@secrets/telemetry';
import type { MountRef } from '../../mounts/mount-ref.ts';
import { recordEvent } from '../events/record-event.ts';
import { enabledMount, lifetime, rowOfMount, underMount } from '../mounts/enabled-mount.ts';
import { nextRevision } from '../next-revision.ts';

export type VersionChange = 'delete' | 'undelete' | 'destroy';

const changes: Record<VersionChange, string> = {
  delete: `set deletion_time = secret.updated_at, expires_at = null
    from secret
    where (v.deletion_time is null or v.deletion_time > secret.updated_at)`,
  undelete: `set deletion_time = secret.next_deletion, expires_at = secret.next_deletion
    from secret
    where v.deletion_time is not null`,
  destroy: `set sealed = null, destroyed = true, expires_at = null
    from secret
    where true`,
};

const newest = '(select max(n.version) from secrets.versions n where n.secret_id = secret.id)';
const chosen = 'any ($6::int[])';

// Every change of a secret or its versions locks the secret's row first, so `watched` is the committed value.
const statement = (change: VersionChange, which: string, kind: string = change) => `
  with ${enabledMount},
  secret as (
    update secrets.secrets s
    set revision = ${nextRevision}, updated_at = clock_timestamp()
    from mount
    where s.mount_id = mount.id and s.path = $4
    returning s.id, s.mount_id, s.path, s.current_version, s.oldest_version, s.updated_at, s.watched,
      s.updated_at + make_interval(secs => ${lifetime}) as next_deletion
  ),
  changed as (
    update secrets.versions v
    ${changes[change]}
      and v.secret_id = secret.id and v.version = ${which} and v.version >= secret.oldest_version
      and not v.destroyed
    returning v.version
  ),
  event as (
    insert into secrets.outbox (secret_id, traceparent)
    select id, $5::text from secret where watched and exists (select from changed)
    returning id
  ),
  ${recordEvent({
    kind: `'${kind}'`,
    mountId: 'secret.mount_id',
    path: 'secret.path',
    currentVersion: 'secret.current_version',
    oldestVersion: 'secret.oldest_version',
    versions: 'changed.versions',
    from: 'secret join (select array_agg(version order by version) as versions from changed) changed on versions is not null',
  })}
  select exists (select from event) as "eventQueued" from mount`;

const statements = {
  delete: statement('delete', chosen),
  undelete: statement('undelete', chosen),
  destroy: statement('destroy', chosen),
};
const deleteNewestStatement = statement('delete', newest, 'data-delete');

/**
 * Deletes, undeletes or destroys versions; skips those that do not exist or are already in the requested state. Returns
 * whether an event was queued.
 * @throws StaleMountError
 */
export async function updateVersions(
  sql: Sql,
  mount: MountRef,
  path: string,
  change: VersionChange,
  versions: readonly number[],
): Promise<boolean> {
  const parameters = [...underMount(mount, path), traceparent() ?? null, versions];
  return rowOfMount(await sql.query<{ eventQueued: boolean }>(statements[change], parameters)).eventQueued;
}

/**
 * Deletes the newest version if there is one. Returns whether an event was queued.
 * @throws StaleMountError
 */
export async function deleteNewestVersion(sql: Sql, mount: MountRef, path: string): Promise<boolean> {
  const rows = await sql.query<{ eventQueued: boolean }>(deleteNewestStatement, [
    ...underMount(mount, path),
    traceparent() ?? null,
  ]);
  return rowOfMount(rows).eventQueued;
}
