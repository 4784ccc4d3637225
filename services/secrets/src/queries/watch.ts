import type { Sql, Tx } from '@secrets/db';
import type { MountRow } from './mounts/mounts.ts';

export type WatchedMount = Pick<MountRow, 'id' | 'path' | 'accessor'>;

/** Returns a mount that stays enabled until the end of the transaction; undefined if there is none. */
export async function lockEnabledMount(
  tx: Tx,
  namespaceId: string,
  path: string,
): Promise<WatchedMount | undefined> {
  const [mount] = await tx.query<WatchedMount>(
    `select id, path, accessor from secrets.mounts
     where namespace_id = $1 and path = $2 and disabled_at is null
     for share`,
    [namespaceId, path],
  );
  return mount;
}

/** Marks a secret as watched: after the commit, each change queues an event. Returns its ID; undefined if there is none. */
export async function markWatched(tx: Tx, mountId: string, path: string): Promise<string | undefined> {
  const [secret] = await tx.query<{ id: string }>(
    'update secrets.secrets set watched = true where mount_id = $1 and path = $2 returning id',
    [mountId, path],
  );
  return secret?.id;
}

/** Marks the secrets at these paths like `markWatched`. Returns the IDs of those that exist, by path. */
export async function markPathsWatched(
  tx: Tx,
  mountId: string,
  paths: readonly string[],
): Promise<Map<string, string>> {
  const rows = await tx.query<{ id: string; path: string }>(
    `with found as (
       select s.id, s.path, s.watched from unnest($2::text[]) as p (path)
        cross join lateral (select id, path, watched from secrets.secrets where mount_id = $1 and path = p.path limit 1) as s
     ), marked as (
       update secrets.secrets set watched = true
        where id = any(array(select id from secrets.secrets where id = any(array(select id from found where not watched)) order by id for no key update))
     )
     select id, path from found`,
    [mountId, paths],
  );
  return new Map(rows.map(({ id, path }) => [path, id]));
}

/** Marks secrets as watched. */
export async function markAllWatched(sql: Sql, secretIds: readonly string[]): Promise<void> {
  await sql.query('update secrets.secrets set watched = true where id = any($1::uuid[]) and not watched', [
    secretIds,
  ]);
}

/** Returns the ID of the secret at a path; undefined if there is none. */
export async function findSecretId(sql: Sql, mountId: string, path: string): Promise<string | undefined> {
  const [secret] = await sql.query<{ id: string }>(
    'select id from secrets.secrets where mount_id = $1 and path = $2',
    [mountId, path],
  );
  return secret?.id;
}

/** Whether there are secrets below the path. */
export async function isFolder(sql: Sql, mountId: string, path: string): Promise<boolean> {
  const found = await sql.query(
    `select from secrets.secrets
     where mount_id = $1 and path >= $2 || '/' and path < $2 || '0'
     limit 1`,
    [mountId, path],
  );
  return found.length > 0;
}

/** A secret under an enabled mount with its newest readable version, whose fields are null if no version is readable. */
export interface InspectedRow {
  secretId: string;
  mountId: string;
  mountPath: string;
  path: string;
  revision: number;
  /** The number of the newest version, whether or not it is readable; 0 if there is none. */
  currentVersion: number;
  isWatched: boolean;
  version: number | null;
  versionId: string | null;
  sealed: Uint8Array | null;
}

export const findSecrets = (sql: Sql, secretIds: readonly string[]): Promise<InspectedRow[]> =>
  sql.query<InspectedRow>(
    `select s.id as "secretId", m.id as "mountId", m.path as "mountPath", s.path, s.revision, s.current_version as "currentVersion", s.watched as "isWatched",
       n.version, n.version_id as "versionId", n.sealed
     from secrets.secrets s
     join secrets.mounts m on m.id = s.mount_id and m.disabled_at is null
     left join secrets.newest_readable n on n.secret_id = s.id
     where s.id = any ($1::uuid[])`,
    [secretIds],
  );

/** Whether a secret has a readable version, and how often it has changed. */
export type ReadableRow = Pick<InspectedRow, 'secretId' | 'revision' | 'version'>;

/** Returns secrets like `findSecrets`, without their values. */
export const findReadable = (sql: Sql, secretIds: readonly string[]): Promise<ReadableRow[]> =>
  sql.query<ReadableRow>(
    `select s.id as "secretId", s.revision, n.version
     from secrets.secrets s
     cross join lateral (select from secrets.mounts where id = s.mount_id and disabled_at is null limit 1) m
     left join lateral (select version from secrets.newest_readable where secret_id = s.id limit 1) n on true
     where s.id = any ($1::uuid[])`,
    [secretIds],
  );

/** Returns the revisions of those secrets that exist under an enabled mount, by ID. */
export async function findRevisions(sql: Sql, secretIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await sql.query<{ id: string; revision: number }>(
    `select s.id, s.revision
     from secrets.secrets s
     join secrets.mounts m on m.id = s.mount_id and m.disabled_at is null
     where s.id = any ($1::uuid[])`,
    [secretIds],
  );
  return new Map(rows.map(({ id, revision }) => [id, revision]));
}
