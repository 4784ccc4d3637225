import { randomBytes } from 'node:crypto';
import { type Db, isForeignKeyViolation, isUniqueViolation, type Sql } from '@secrets/db';
import { Problem } from '@secrets/domain';
import { parentPath } from '../namespaces/namespace-path.ts';
import { revoking } from './revoking.ts';

export interface NamespaceRow {
  id: string;
  path: string;
  customMetadata: Record<string, string>;
}

const columns = 'id, path, custom_metadata as "customMetadata"';

export async function namespaceByPath(sql: Sql, path: string): Promise<NamespaceRow | undefined> {
  return (
    await sql.query<NamespaceRow>(`select ${columns} from login.namespaces where path = $1`, [path])
  )[0];
}

/** Creates a namespace below one that exists; the epoch grows, as somebody may remember that there was none. */
export async function insertNamespace(
  db: Db,
  path: string,
  customMetadata: Record<string, string>,
): Promise<NamespaceRow> {
  try {
    return await revoking(db, async (tx) => {
      const parent = await tx.query('select 1 from login.namespaces where path = $1 for share', [
        parentPath(path),
      ]);
      if (parent.length === 0) throw new Problem('invalid', 'path: the namespace above does not exist');
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

export async function setNamespaceMetadata(
  sql: Sql,
  id: string,
  customMetadata: Record<string, string>,
): Promise<void> {
  await sql.query('update login.namespaces set custom_metadata = $2::jsonb where id = $1', [
    id,
    JSON.stringify(customMetadata),
  ]);
}

/** The namespaces directly below a path, in order, after a name, at most so many. */
export async function namespacesBelow(
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
 * Deletes a namespace with its tokens, policies and entities; refused (`conflict`) while namespaces, auth mounts, mounts
 * or sync destinations stand in it. The last two are other services' and not seen from here: the gateway asks for them
 * first, to name them, and their rows refer to the namespace, so that none can come between that look and this.
 */
export async function deleteNamespace(db: Db, { id, path }: NamespaceRow): Promise<void> {
  await revoking(db, async (tx) => {
    await tx.query('select 1 from login.namespaces where id = $1 for update', [id]);
    const [left] = await tx.query<{ children: boolean; mounts: boolean }>(
      `select exists (select 1 from login.namespaces where starts_with(path, $2)) as children,
              exists (select 1 from login.auth_mounts where namespace_id = $1) as mounts`,
      [id, `${path}/`],
    );
    if (left?.children) throw new Problem('conflict', 'the namespace still holds namespaces');
    if (left?.mounts) throw new Problem('conflict', 'the namespace still holds auth mounts');
    await tx.query('delete from login.namespaces where id = $1', [id]);
  }).catch((error: unknown) => {
    if (isForeignKeyViolation(error))
      throw new Problem('conflict', 'the namespace still holds mounts or sync destinations');
    throw error;
  });
}
