import type { Sql, Tx } from '@secrets/db';
import type { MountRef } from '../known-mounts.ts';

/** A mount as its readers see it. */
export interface Mount {
  id: string;
  path: string;
  accessor: string;
  description: string;
  maxVersions: number;
  casRequired: boolean;
  deleteAfterSeconds: number;
}

/** What may be changed of a mount; what is absent stays. */
export interface MountChange {
  description?: string | undefined;
  maxVersions?: number | undefined;
  casRequired?: boolean | undefined;
  deleteAfterSeconds?: number | undefined;
}

const columns = `id, path, accessor, description, max_versions as "maxVersions", cas_required as "casRequired",
  delete_after_seconds as "deleteAfterSeconds"`;

/** The mount that stands at one of the paths; at most one can. */
export async function findMountAt(
  sql: Sql,
  namespaceId: string,
  paths: readonly string[],
): Promise<MountRef | undefined> {
  const [found] = await sql.query<MountRef>(
    `select id, namespace_id as "namespaceId", path from secrets.mounts
     where namespace_id = $1 and path = any ($2::text[]) and disabled_at is null
     limit 1`,
    [namespaceId, paths],
  );
  return found;
}

export async function findMount(sql: Sql, namespaceId: string, path: string): Promise<Mount | undefined> {
  const [found] = await sql.query<Mount>(
    `select ${columns} from secrets.mounts where namespace_id = $1 and path = $2 and disabled_at is null`,
    [namespaceId, path],
  );
  return found;
}

export const listMounts = (sql: Sql, namespaceId: string, after: string, limit: number): Promise<Mount[]> =>
  sql.query<Mount>(
    `select ${columns} from secrets.mounts
     where namespace_id = $1 and path > $2 and disabled_at is null
     order by path
     limit $3`,
    [namespaceId, after, limit],
  );

/** From here to the end of the transaction nobody else adds a mount to the namespace. */
export async function lockMounts(tx: Tx, namespaceId: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`mounts of ${namespaceId}`]);
}

/** The path of a mount that lies at, above (one of `prefixes`) or below `path`. */
export async function conflictingMount(
  sql: Sql,
  namespaceId: string,
  path: string,
  prefixes: readonly string[],
): Promise<string | undefined> {
  const [found] = await sql.query<{ path: string }>(
    `select path from secrets.mounts
     where namespace_id = $1 and disabled_at is null
       and (path = $2 or path = any ($3::text[]) or path >= $2 || '/' and path < $2 || '0')
     order by path
     limit 1`,
    [namespaceId, path, prefixes],
  );
  return found?.path;
}

export async function insertMount(
  sql: Sql,
  namespaceId: string,
  path: string,
  accessor: string,
  { description = '', maxVersions = 0, casRequired = false, deleteAfterSeconds = 0 }: MountChange,
): Promise<void> {
  await sql.query(
    `insert into secrets.mounts
       (namespace_id, path, accessor, description, max_versions, cas_required, delete_after_seconds)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [namespaceId, path, accessor, description, maxVersions, casRequired, deleteAfterSeconds],
  );
}

/** False when there is no such mount. */
export async function updateMount(
  sql: Sql,
  namespaceId: string,
  path: string,
  change: MountChange,
): Promise<boolean> {
  const updated = await sql.query(
    `update secrets.mounts
     set description = coalesce($3, description),
         max_versions = coalesce($4::int, max_versions),
         cas_required = coalesce($5::boolean, cas_required),
         delete_after_seconds = coalesce($6::bigint, delete_after_seconds)
     where namespace_id = $1 and path = $2 and disabled_at is null
     returning id`,
    [
      namespaceId,
      path,
      change.description ?? null,
      change.maxVersions ?? null,
      change.casRequired ?? null,
      change.deleteAfterSeconds ?? null,
    ],
  );
  return updated.length > 0;
}

/** Frees the path and makes the values unreadable; the purge does the rest. False when there is no such mount. */
export async function disableMount(sql: Sql, namespaceId: string, path: string): Promise<boolean> {
  const disabled = await sql.query(
    `update secrets.mounts set disabled_at = now()
     where namespace_id = $1 and path = $2 and disabled_at is null
     returning id`,
    [namespaceId, path],
  );
  return disabled.length > 0;
}
