import { randomBytes } from 'node:crypto';
import { type Db, isForeignKeyViolation, isUniqueViolation, type Sql } from '@secrets/db';
import { invalid, Problem } from '@secrets/domain';
import { revoking } from './revocations.ts';

export interface NamespaceRow {
  id: string;
  path: string;
  customMetadata: Record<string, string>;
}

const columns = 'id, path, custom_metadata as "customMetadata"';

export async function namespaceByPath(sql: Sql, path: string): Promise<NamespaceRow | undefined> {
  const text = `select ${columns} from login.namespaces where path = $1`;
  return (await sql.query<NamespaceRow>(text, [path]))[0];
}

/** Creates a namespace whose parent exists. Moves the epoch, because a process may have cached that there is none. */
export async function insertNamespace(
  db: Db,
  { path, parentPath, customMetadata }: Omit<NamespaceRow, 'id'> & { parentPath: string },
): Promise<NamespaceRow> {
  try {
    return await revoking(db, async (tx) => {
      const parent = await tx.query('select 1 from login.namespaces where path = $1 for share', [parentPath]);
      if (parent.length === 0) throw invalid('path: the parent namespace does not exist');
      const rows = await tx.query<NamespaceRow>(
        `insert into login.namespaces (id, path, custom_metadata) values ($1, $2, $3::jsonb) returning ${columns}`,
        [randomBytes(8).toString('hex'), path, JSON.stringify(customMetadata)],
      );
      return rows[0]!;
    });
  } catch (error) {
    if (isUniqueViolation(error))
      throw new Problem('conflict', 'the namespace was just created by another request');
    throw error;
  }
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

/** Up to `limit` namespaces directly below a path, in order, whose names come after `after`. */
export async function childNamespaces(
  sql: Sql,
  path: string,
  { after, limit }: { after: string; limit: number },
): Promise<NamespaceRow[]> {
  const prefix = path === '' ? '' : `${path}/`;
  return sql.query<NamespaceRow>(
    `select ${columns} from login.namespaces
     where starts_with(path, $1) and path <> '' and position('/' in substr(path, length($1) + 1)) = 0 and path > $2
     order by path limit $3`,
    [prefix, `${prefix}${after}`, limit],
  );
}

/**
 * Deletes a namespace with its tokens, policies and entities. If it still holds namespaces, auth mounts, mounts or sync
 * destinations, throws `conflict`. The rows of the last two belong to other services and cannot be read here: they
 * refer to the namespace by a foreign key, which also keeps one from being created while this runs.
 */
export async function deleteNamespace(db: Db, { id, path }: NamespaceRow): Promise<void> {
  await revoking(db, async (tx) => {
    await tx.query('select 1 from login.namespaces where id = $1 for update', [id]);
    const [left] = await tx.query<{ children: boolean; authMounts: boolean }>(
      `select exists (select 1 from login.namespaces where starts_with(path, $2)) as children,
              exists (select 1 from login.auth_mounts where namespace_id = $1) as "authMounts"`,
      [id, `${path}/`],
    );
    if (left?.children) throw stillHolds('namespaces; delete them first');
    if (left?.authMounts) throw stillHolds('auth mounts; disable them first');
    await tx.query('delete from login.namespaces where id = $1', [id]);
  }).catch((error: unknown) => {
    throw heldElsewhere(error) ?? error;
  });
}

const stillHolds = (what: string) => new Problem('conflict', `the namespace still holds ${what}`);

/** What other services keep in a namespace, by the table whose foreign key prevents its deletion. */
const heldIn = new Map([
  ['secrets.mounts', 'mounts; disable them first'],
  ['sync.destinations', 'sync destinations; delete them first'],
]);

function heldElsewhere(error: unknown): Problem | undefined {
  if (!isForeignKeyViolation(error)) return undefined;
  const { schema, table } = error as { schema?: string; table?: string };
  const what = heldIn.get(`${schema}.${table}`);
  return what === undefined ? undefined : stillHolds(what);
}
