import { randomBytes } from 'node:crypto';
import { type Db, isForeignKeyViolation, isUniqueViolation, type Sql, type Tx } from '@secrets/db';
import { invalid, notFound, Problem } from '@secrets/domain';
import { revoking } from './revocations.ts';

export interface AuthMount {
  id: string;
  path: string;
  type: string;
  accessor: string;
  description: string;
}

const columns = 'id, path, type, accessor, description';

export async function authMountByPath(
  sql: Sql,
  namespaceId: string,
  path: string,
): Promise<AuthMount | undefined> {
  const text = `select ${columns} from login.auth_mounts where namespace_id = $1 and path = $2`;
  return (await sql.query<AuthMount>(text, [namespaceId, path]))[0];
}

/** Up to `limit` auth mounts whose paths come after the given one, in the order of their bytes. */
export const authMounts = (
  sql: Sql,
  namespaceId: string,
  { after, limit }: { after: string; limit: number },
): Promise<AuthMount[]> =>
  sql.query(
    `select ${columns} from login.auth_mounts where namespace_id = $1 and path collate "C" > $2
      order by path collate "C" limit $3`,
    [namespaceId, after, limit],
  );

/** Enables a mount. If its path is in use, or lies above or below another mount, throws `invalid`. */
export async function insertAuthMount(
  db: Db,
  namespaceId: string,
  { path, type, description }: Pick<AuthMount, 'path' | 'type' | 'description'>,
): Promise<void> {
  try {
    await db.transaction(async (tx) => {
      await tx.query('select 1 from login.namespaces where id = $1 for no key update', [namespaceId]);
      const [overlapping] = await tx.query<{ path: string }>(
        `select path from login.auth_mounts where namespace_id = $1
         and (path = $2 or starts_with(path, $2 || '/') or starts_with($2, path || '/')) limit 1`,
        [namespaceId, path],
      );
      if (overlapping !== undefined) throw invalid(`path: is in use by the auth mount ${overlapping.path}/`);
      await tx.query(
        `insert into login.auth_mounts (namespace_id, path, type, accessor, description)
         values ($1, $2, $3, $4, $5)`,
        [namespaceId, path, type, `auth_${type}_${randomBytes(4).toString('hex')}`, description],
      );
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw new Problem('conflict', 'another request was faster; try again');
    if (isForeignKeyViolation(error)) throw notFound(); // the namespace was deleted meanwhile
    throw error;
  }
}

/**
 * Runs a change to what belongs to a mount, one at a time. If the mount was disabled meanwhile, throws `not_found`.
 * Moves the epoch, so that the next login on every replica sees the change.
 */
export const changingMount = <T>(db: Db, mountId: string, work: (tx: Tx) => Promise<T>): Promise<T> =>
  revoking(db, async (tx) => {
    const mount = await tx.query('select 1 from login.auth_mounts where id = $1 for no key update', [
      mountId,
    ]);
    if (mount.length === 0) throw notFound();
    return work(tx);
  });

/** Disables a mount: deletes its configuration, roles and entities, and revokes every token that it issued. */
export const deleteAuthMount = (db: Db, id: string): Promise<void> =>
  revoking(db, async (tx) => {
    await tx.query(
      'delete from login.entities where id in (select entity_id from login.entity_aliases where mount_id = $1)',
      [id],
    );
    await tx.query('delete from login.auth_mounts where id = $1', [id]);
  });
