import type { Sql } from '@secrets/db';
import type { MountAttributes } from '@secrets/domain';

/** An auth mount, as far as this service's role may read it. */
export interface AuthMountRow {
  path: string;
  type: string;
  accessor: string;
  description: string;
  attributes: MountAttributes;
}

const columns = 'path, coalesce(named_type, type) as type, accessor, description, attributes';

export const listAuthMounts = (sql: Sql, namespaceId: string, limit: number): Promise<AuthMountRow[]> =>
  sql.query<AuthMountRow>(
    `select ${columns} from login.auth_mounts where namespace_id = $1 order by path collate "C" limit $2`,
    [namespaceId, limit],
  );

/** The auth mounts that are listed to everybody. */
export const listPublicAuthMounts = (sql: Sql, namespaceId: string, limit: number): Promise<AuthMountRow[]> =>
  sql.query<AuthMountRow>(
    `select ${columns} from login.auth_mounts
     where namespace_id = $1 and attributes ->> 'listing_visibility' = 'unauth'
     order by path collate "C" limit $2`,
    [namespaceId, limit],
  );
