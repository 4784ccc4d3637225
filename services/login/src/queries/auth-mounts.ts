import { randomBytes } from 'node:crypto';
import { type Db, isUniqueViolation, type Sql } from '@secrets/db';
import { errorCode, invalid, Problem } from '@secrets/domain';
import { revoking } from './revoking.ts';

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

export const authMounts = (sql: Sql, namespaceId: string): Promise<AuthMount[]> =>
  sql.query(`select ${columns} from login.auth_mounts where namespace_id = $1 order by path limit 10000`, [
    namespaceId,
  ]);

/** Enables a mount; a path that is taken, or lies above or below a mount, is `invalid`. */
export async function insertAuthMount(
  db: Db,
  namespaceId: string,
  { path, description }: { path: string; description: string },
): Promise<void> {
  try {
    await db.transaction(async (tx) => {
      await tx.query('select 1 from login.namespaces where id = $1 for no key update', [namespaceId]);
      const near = await tx.query<{ path: string }>(
        `select path from login.auth_mounts where namespace_id = $1
         and (path = $2 or starts_with(path, $2 || '/') or starts_with($2, path || '/')) limit 1`,
        [namespaceId, path],
      );
      if (near.length > 0) throw invalid(`path: is in use by the auth mount ${near[0]?.path}/`);
      const accessor = `auth_cloudB_${randomBytes(4).toString('hex')}`;
      await tx.query(
        `insert into login.auth_mounts (namespace_id, path, type, accessor, description)
         values ($1, $2, 'cloudB', $3, $4)`,
        [namespaceId, path, accessor, description],
      );
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw new Problem('conflict', 'another request was faster; try again');
    if (errorCode(error) === '23503') throw new Problem('not_found');
    throw error;
  }
}

/** Disables a mount: its configuration, roles and entities go, and every token that it issued is revoked. */
export const deleteAuthMount = (db: Db, id: string): Promise<void> =>
  revoking(db, async (tx) => {
    await tx.query(
      'delete from login.entities where id in (select entity_id from login.entity_aliases where mount_id = $1)',
      [id],
    );
    await tx.query('delete from login.auth_mounts where id = $1', [id]);
  });
