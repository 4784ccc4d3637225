import type { Sql } from '@secrets/db';
import type { MountRef } from '../../services/secrets/src/mounts/mount-ref.ts';
import { enabledMount, underMount } from '../../services/secrets/src/queries/mounts/enabled-mount.ts';
import type { VersionRow } from '../../services/secrets/src/queries/versions/find-version.ts';

// For one request, without what the product's statement needs to serve several.
const statement = `
  with ${enabledMount}
  select s.id as "secretId", s.revision, s.current_version as "currentVersion",
    s.custom_metadata as "customMetadata", v.version, v.id as "versionId", v.sealed,
    v.created_at as "createdAt", v.deletion_time as "deletionTime", v.destroyed,
    not v.destroyed and (v.deletion_time is null or v.deletion_time > now()) as "isReadable"
  from mount
  join secrets.secrets s on s.mount_id = mount.id and s.path = $4
  join secrets.versions v on v.secret_id = s.id and v.version = s.current_version`;

/** Returns the newest version of a secret; undefined if there is none. */
export async function findNewestVersion(
  sql: Sql,
  mount: MountRef,
  path: string,
): Promise<VersionRow | undefined> {
  const [row] = await sql.query<VersionRow>(statement, underMount(mount, path));
  return row;
}
