import type { PageRange, Sql } from '@secrets/db';
import type { MountAttributes } from '@secrets/domain';
import type { MountRef } from '../../mounts/mount-ref.ts';
import type { Retention } from '../../mounts/retention.ts';

/** An enabled mount. */
export interface MountRow extends Retention {
  id: string;
  path: string;
  accessor: string;
  description: string;
  attributes: MountAttributes;
}

const columns = `id, path, accessor, description, attributes, max_versions as "maxVersions", cas_required as "casRequired",
  delete_after_seconds as "deleteAfterSeconds"`;

/** Returns the mount at one of the paths; as mounts are never nested, there is at most one. */
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

export async function findMount(sql: Sql, namespaceId: string, path: string): Promise<MountRow | undefined> {
  const [found] = await sql.query<MountRow>(
    `select ${columns} from secrets.mounts where namespace_id = $1 and path = $2 and disabled_at is null`,
    [namespaceId, path],
  );
  return found;
}

export const listMountRows = (sql: Sql, namespaceId: string, range: PageRange): Promise<MountRow[]> =>
  sql.query<MountRow>(
    `select ${columns} from secrets.mounts
     where namespace_id = $1 and path > $2 and disabled_at is null
     order by path
     limit $3`,
    [namespaceId, range.after, range.limit],
  );

/** The mounts that are listed to everybody. */
export const listPublicMountRows = (sql: Sql, namespaceId: string, limit: number): Promise<MountRow[]> =>
  sql.query<MountRow>(
    `select ${columns} from secrets.mounts
     where namespace_id = $1 and attributes ->> 'listing_visibility' = 'unauth' and disabled_at is null
     order by path
     limit $2`,
    [namespaceId, limit],
  );

export interface MoveRow {
  from: string;
  to: string;
}

export async function findMove(sql: Sql, namespaceId: string, moveId: string): Promise<MoveRow | undefined> {
  const [found] = await sql.query<MoveRow>(
    'select moved_from as "from", path as "to" from secrets.mounts where move_id = $1 and namespace_id = $2',
    [moveId, namespaceId],
  );
  return found;
}
