import type { Sql } from '@secrets/db';
import type { MountRef } from '../mounts/mount-ref.ts';
import { enabledMount, rowOfMount, underMount } from './enabled-mount.ts';

/** A stored version, and the metadata of its secret. */
export interface VersionRow {
  secretId: string;
  revision: number;
  currentVersion: number;
  customMetadata: Record<string, string> | null;
  version: number;
  versionId: string;
  /** Null if the version is destroyed. */
  sealed: Uint8Array | null;
  createdAt: Date;
  deletionTime: Date | null;
  destroyed: boolean;
  /** Neither destroyed nor deleted at the time of reading. */
  isReadable: boolean;
}

const statement = `
  with ${enabledMount}
  select s.id as "secretId", s.revision, s.current_version as "currentVersion",
    s.custom_metadata as "customMetadata", v.version, v.id as "versionId", v.sealed,
    v.created_at as "createdAt", v.deletion_time as "deletionTime", v.destroyed,
    not v.destroyed and (v.deletion_time is null or v.deletion_time > now()) as "isReadable"
  from mount
  left join secrets.secrets s on s.mount_id = mount.id and s.path = $4
  left join secrets.versions v
    on v.secret_id = s.id and v.version >= s.oldest_version
    and v.version = case when $5::int = 0 then s.current_version else $5::int end`;

/**
 * Returns a version of a secret, 0 being the newest; undefined if there is none.
 * @throws StaleMountError
 */
export async function findVersion(
  sql: Sql,
  mount: MountRef,
  path: string,
  version = 0,
): Promise<VersionRow | undefined> {
  const rows = await sql.query<VersionRow | { version: null }>(statement, [
    ...underMount(mount, path),
    version,
  ]);
  const row = rowOfMount(rows);
  return row.version === null ? undefined : row;
}
