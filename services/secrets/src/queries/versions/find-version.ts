import type { Sql } from '@secrets/db';
import { type MountRef, StaleMountError } from '../../mounts/mount-ref.ts';

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

/** A version of a secret; 0 is the newest one. */
export interface VersionLookup {
  mount: MountRef;
  path: string;
  version: number;
}

// The LIMIT keeps the lookups of each version together, by index: a join with a table that was small could read all of it later.
const statement = `
  select l.at, found.*
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::int[])
    with ordinality as l(mount_id, namespace_id, mount_path, path, version, at)
  cross join lateral (
    select s.id as "secretId", s.revision, s.current_version as "currentVersion",
      s.custom_metadata as "customMetadata", v.version, v.id as "versionId",
      case when octet_length(v.sealed) <= $6::int then v.sealed end as sealed,
      v.created_at as "createdAt", v.deletion_time as "deletionTime", v.destroyed,
      not v.destroyed and (v.deletion_time is null or v.deletion_time > now()) as "isReadable",
      coalesce(octet_length(v.sealed) > $6::int, false) as "isTooLarge"
    from secrets.mounts m
    left join secrets.secrets s on s.mount_id = m.id and s.path = l.path
    left join secrets.versions v
      on v.secret_id = s.id and v.version >= s.oldest_version
      and v.version = case when l.version = 0 then s.current_version else l.version end
    where m.id = l.mount_id and m.namespace_id = l.namespace_id and m.path = l.mount_path and m.disabled_at is null
    limit 1
  ) found`;

type FoundRow = (VersionRow | { version: null }) & { at: number; isTooLarge: boolean };

/**
 * Returns several versions, in the order of the lookups: null if there is none, undefined if its mount is no longer
 * enabled at its path, or if its encrypted value has more than `maxBytes`.
 */
export async function findVersions(
  sql: Sql,
  lookups: readonly VersionLookup[],
  maxBytes: number,
): Promise<(VersionRow | null | undefined)[]> {
  const rows = await sql.query<FoundRow>(statement, [
    lookups.map(({ mount }) => mount.id),
    lookups.map(({ mount }) => mount.namespaceId),
    lookups.map(({ mount }) => mount.path),
    lookups.map(({ path }) => path),
    lookups.map(({ version }) => version),
    maxBytes,
  ]);
  const found: (VersionRow | null | undefined)[] = lookups.map(() => undefined);
  for (const { at, isTooLarge, ...row } of rows)
    if (!isTooLarge) found[at - 1] = row.version === null ? null : row;
  return found;
}

const anyBytes = 2 ** 31 - 1;

/**
 * Returns a version of a secret, however large; null if there is none.
 * @throws StaleMountError
 */
export async function findVersion(sql: Sql, lookup: VersionLookup): Promise<VersionRow | null> {
  const [found] = await findVersions(sql, [lookup], anyBytes);
  if (found === undefined) throw new StaleMountError();
  return found;
}
