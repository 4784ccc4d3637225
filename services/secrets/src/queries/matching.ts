import type { Sql } from '@secrets/db';

/** Returns an enabled mount; undefined if there is none. */
export async function findMountById(
  sql: Sql,
  mountId: string,
): Promise<{ path: string; accessor: string } | undefined> {
  const [mount] = await sql.query<{ path: string; accessor: string }>(
    'select path, accessor from secrets.mounts where id = $1 and disabled_at is null',
    [mountId],
  );
  return mount;
}

interface PathRow {
  secretId: string;
  path: string;
  /** Whether the custom metadata has all the given values. */
  hasMetadata: boolean;
}

/** Returns secrets of a mount by path, after one, within a range. */
export const listPaths = (
  sql: Sql,
  mountId: string,
  metadata: Readonly<Record<string, string>>,
  { from, before, after, limit }: { from: string; before: string; after: string; limit: number },
): Promise<PathRow[]> =>
  sql.query<PathRow>(
    `select id as "secretId", path, coalesce(custom_metadata, '{}') @> $5::jsonb as "hasMetadata"
     from secrets.secrets
     where mount_id = $1 and path >= $2 and path < $3 and path > $4
     order by path limit $6`,
    [mountId, from, before, after, JSON.stringify(metadata), limit],
  );

interface PlaceRow {
  secretId: string;
  mountId: string;
  path: string;
  customMetadata: Record<string, string> | null;
}

/** Returns those of the secrets that exist under an enabled mount. */
export const findPlaces = (sql: Sql, secretIds: readonly string[]): Promise<PlaceRow[]> =>
  sql.query<PlaceRow>(
    `select s.id as "secretId", s.mount_id as "mountId", s.path, s.custom_metadata as "customMetadata"
     from secrets.secrets s
     cross join lateral (select from secrets.mounts where id = s.mount_id and disabled_at is null limit 1) m
     where s.id = any ($1::uuid[])`,
    [secretIds],
  );
