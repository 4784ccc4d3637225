import type { PageRange, Sql, Tx } from '@secrets/db';
import type { MountAttributes } from '@secrets/domain';

/** Limits of an auth mount on the lifetimes of its tokens, in seconds; 0 for the system's limits. */
export interface LeaseLimits {
  defaultLeaseSeconds: number;
  maxLeaseSeconds: number;
}

export interface AuthMountRow extends LeaseLimits {
  id: string;
  path: string;
  type: string;
  /** The name of the type by which the mount was enabled, if that is another one. */
  namedType: string | null;
  accessor: string;
  description: string;
  attributes: MountAttributes;
}

/** The settings of a mount that can be changed. */
export type MountSettings = Pick<AuthMountRow, 'description' | 'attributes'> & LeaseLimits;

const columns = `id, path, type, named_type as "namedType", accessor, description, attributes,
  default_lease_seconds as "defaultLeaseSeconds", max_lease_seconds as "maxLeaseSeconds"`;

export async function findAuthMount(
  sql: Sql,
  namespaceId: string,
  path: string,
): Promise<AuthMountRow | undefined> {
  const text = `select ${columns} from login.auth_mounts where namespace_id = $1 and path = $2`;
  return (await sql.query<AuthMountRow>(text, [namespaceId, path]))[0];
}

export async function findAuthMountByAccessor(
  sql: Sql,
  namespaceId: string,
  accessor: string,
): Promise<AuthMountRow | undefined> {
  const text = `select ${columns} from login.auth_mounts where namespace_id = $1 and accessor = $2`;
  return (await sql.query<AuthMountRow>(text, [namespaceId, accessor]))[0];
}

/** Up to `limit` auth mounts whose paths come after the given one, in the order of their bytes. */
export async function listAuthMountRows(
  sql: Sql,
  namespaceId: string,
  { after, limit }: PageRange,
): Promise<AuthMountRow[]> {
  return sql.query(
    `select ${columns} from login.auth_mounts where namespace_id = $1 and path collate "C" > $2
      order by path collate "C" limit $3`,
    [namespaceId, after, limit],
  );
}

/** The path of an auth mount at, above or below a path; undefined if there is none. */
export async function findOverlappingPath(
  sql: Sql,
  namespaceId: string,
  path: string,
): Promise<string | undefined> {
  const [row] = await sql.query<{ path: string }>(
    `(select path from login.auth_mounts where namespace_id = $1 and path = any($2::text[]) limit 1)
     union all
     (select path from login.auth_mounts where namespace_id = $1 and path collate "C" > $3 and path collate "C" < $4
       order by path collate "C" limit 1) limit 1`,
    [namespaceId, pathsTo(path), `${path}/`, `${path}0`], // 0 follows the slash
  );
  return row?.path;
}

/** A path and those above it. */
const pathsTo = (path: string): string[] =>
  path.split('/').map((_, index, segments) => segments.slice(0, index + 1).join('/'));

export async function insertAuthMount(
  tx: Tx,
  namespaceId: string,
  mount: Omit<AuthMountRow, 'id'>,
): Promise<void> {
  const { path, type, namedType, accessor, description, defaultLeaseSeconds, maxLeaseSeconds } = mount;
  await tx.query(
    `insert into login.auth_mounts
       (namespace_id, path, type, named_type, accessor, description, default_lease_seconds, max_lease_seconds, attributes)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb)`,
    [
      namespaceId,
      path,
      type,
      namedType,
      accessor,
      description,
      defaultLeaseSeconds,
      maxLeaseSeconds,
      JSON.stringify(mount.attributes),
    ],
  );
}

/** Replaces the settings of a mount. */
export async function updateAuthMount(
  tx: Tx,
  id: string,
  { description, defaultLeaseSeconds, maxLeaseSeconds, attributes }: MountSettings,
): Promise<void> {
  await tx.query(
    `update login.auth_mounts
     set description = $2, default_lease_seconds = $3, max_lease_seconds = $4, attributes = $5::jsonb where id = $1`,
    [id, description, defaultLeaseSeconds, maxLeaseSeconds, JSON.stringify(attributes)],
  );
}

/** Reads a mount, and keeps it from being changed or disabled before the transaction ends. */
export async function lockAuthMount(tx: Tx, id: string): Promise<AuthMountRow | undefined> {
  const text = `select ${columns} from login.auth_mounts where id = $1 for no key update`;
  return (await tx.query<AuthMountRow>(text, [id]))[0];
}

/**
 * Deletes a mount with its configuration and roles. Its tokens are refused from the commit on. A trigger records that
 * these and its entities are to be deleted.
 */
export async function deleteAuthMount(tx: Tx, id: string): Promise<void> {
  await tx.query('delete from login.auth_mounts where id = $1', [id]);
}
