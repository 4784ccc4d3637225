import type { PageRange, Sql, Tx } from '@secrets/db';

export interface NamespaceRow {
  id: string;
  path: string;
  customMetadata: Record<string, string>;
}

const columns = 'id, path, custom_metadata as "customMetadata"';
/** SQL: the path of the parent namespace, in the same form as in the index `namespaces_by_parent`. */
const parentPath = "regexp_replace(path, '/?[^/]*$', '')";

export async function findNamespace(sql: Sql, path: string): Promise<NamespaceRow | undefined> {
  const text = `select ${columns} from login.namespaces where path = $1`;
  return (await sql.query<NamespaceRow>(text, [path]))[0];
}

/** Up to `limit` namespaces directly below a path, in the order of their bytes, whose names come after `after`. */
export async function listChildNamespaces(
  sql: Sql,
  path: string,
  { after, limit }: PageRange,
): Promise<NamespaceRow[]> {
  const prefix = path === '' ? '' : `${path}/`;
  return sql.query<NamespaceRow>(
    `select ${columns} from login.namespaces
     where ${parentPath} = $1 and path <> '' and path collate "C" > $2
     order by path collate "C" limit $3`,
    [path, `${prefix}${after}`, limit],
  );
}

/** Keeps a namespace from being deleted before the transaction ends. Returns false if it does not exist. */
export async function lockParentNamespace(tx: Tx, path: string): Promise<boolean> {
  return (await tx.query('select 1 from login.namespaces where path = $1 for share', [path])).length > 0;
}

export async function insertNamespace(tx: Tx, row: NamespaceRow): Promise<void> {
  await tx.query('insert into login.namespaces (id, path, custom_metadata) values ($1, $2, $3::jsonb)', [
    row.id,
    row.path,
    JSON.stringify(row.customMetadata),
  ]);
}

export async function updateNamespaceMetadata(
  sql: Sql,
  id: string,
  customMetadata: Record<string, string>,
): Promise<void> {
  await sql.query('update login.namespaces set custom_metadata = $2::jsonb where id = $1', [
    id,
    JSON.stringify(customMetadata),
  ]);
}

/** Makes the transactions that call this for one namespace run one after the other. */
export async function serializeWrites(tx: Tx, namespaceId: string): Promise<void> {
  await tx.query('select 1 from login.namespaces where id = $1 for no key update', [namespaceId]);
}

/** Keeps anything from being created in a namespace before the transaction ends. */
export async function lockNamespace(tx: Tx, id: string): Promise<void> {
  await tx.query('select 1 from login.namespaces where id = $1 for update', [id]);
}

/** Whether a namespace holds what this service keeps in it and what must be deleted first. */
export async function findNamespaceContent(
  tx: Tx,
  { id, path }: Pick<NamespaceRow, 'id' | 'path'>,
): Promise<{ namespaces: boolean; authMounts: boolean }> {
  const [row] = await tx.query<{ namespaces: boolean; authMounts: boolean }>(
    `select (select id from login.namespaces where ${parentPath} = $2 and path <> '' limit 1) is not null as namespaces,
            (select id from login.auth_mounts where namespace_id = $1 order by namespace_id, path limit 1) is not null as "authMounts"`,
    [id, path],
  );
  return row!;
}

/**
 * Deletes a namespace with its policies. Its tokens are refused from the commit on; a trigger records that these and
 * its entities are to be deleted.
 */
export async function deleteNamespaceRow(tx: Tx, id: string): Promise<void> {
  await tx.query('delete from login.namespaces where id = $1', [id]);
}
