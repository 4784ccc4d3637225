import type { Sql, Tx } from '@secrets/db';
import { changedAttributes, type MountAttributesChange } from '@secrets/domain';
import type { RetentionChange } from '../../mounts/retention.ts';

/** The settings of a mount that can be changed. Omitted fields keep their values. */
export interface MountChange extends RetentionChange {
  description?: string | undefined;
  /** A null resets a field. */
  attributes?: MountAttributesChange;
}

/** Until the end of the transaction, no other transaction that calls this continues for the same namespace. */
export async function lockMounts(tx: Tx, namespaceId: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`mounts of ${namespaceId}`]);
}

/** Returns the path of a mount at, above (one of `prefixes`) or below `path`, other than the one at `except`. */
export async function findConflictingMount(
  sql: Sql,
  namespaceId: string,
  path: string,
  prefixes: readonly string[],
  except = '',
): Promise<string | undefined> {
  const [found] = await sql.query<{ path: string }>(
    `(select path from secrets.mounts
      where namespace_id = $1 and disabled_at is null and path = any ($2::text[]) and path <> $4 order by path limit 1)
     union all
     (select path from secrets.mounts
      where namespace_id = $1 and disabled_at is null and path >= $3 || '/' and path < $3 || '0' and path <> $4 order by path limit 1)
     limit 1`,
    [namespaceId, [path, ...prefixes], path, except],
  );
  return found?.path;
}

export async function insertMount(
  sql: Sql,
  namespaceId: string,
  path: string,
  accessor: string,
  {
    description = '',
    maxVersions = 0,
    casRequired = false,
    deleteAfterSeconds = 0,
    attributes = {},
  }: MountChange,
): Promise<void> {
  await sql.query(
    `insert into secrets.mounts
       (namespace_id, path, accessor, description, max_versions, cas_required, delete_after_seconds, attributes)
     values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb)`,
    [
      namespaceId,
      path,
      accessor,
      description,
      maxVersions,
      casRequired,
      deleteAfterSeconds,
      JSON.stringify(changedAttributes({}, attributes)),
    ],
  );
}

/** Returns false if there is no such mount. */
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
         delete_after_seconds = coalesce($6::bigint, delete_after_seconds),
         attributes = jsonb_strip_nulls(attributes || $7::jsonb)
     where namespace_id = $1 and path = $2 and disabled_at is null
     returning id`,
    [
      namespaceId,
      path,
      change.description ?? null,
      change.maxVersions ?? null,
      change.casRequired ?? null,
      change.deleteAfterSeconds ?? null,
      JSON.stringify(change.attributes ?? {}),
    ],
  );
  return updated.length > 0;
}

/** Moves a mount; its associations follow (the trigger `moved_mount`). */
export async function moveMountRow(
  sql: Sql,
  id: string,
  { path, from, moveId }: { path: string; from: string; moveId: string },
): Promise<void> {
  await sql.query('update secrets.mounts set path = $2, moved_from = $3, move_id = $4 where id = $1', [
    id,
    path,
    from,
    moveId,
  ]);
}

/**
 * Frees the path and makes the values unreadable; the purge deletes them later. Returns its ID; undefined if there is
 * no such mount.
 */
export async function disableMountRow(
  sql: Sql,
  namespaceId: string,
  path: string,
): Promise<string | undefined> {
  const [disabled] = await sql.query<{ id: string }>(
    `update secrets.mounts set disabled_at = now()
     where namespace_id = $1 and path = $2 and disabled_at is null
     returning id`,
    [namespaceId, path],
  );
  return disabled?.id;
}
