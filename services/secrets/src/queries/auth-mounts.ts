import type { Sql } from '@secrets/db';

/** An auth mount, as far as this service's role may read it. */
export interface AuthMountRow {
  path: string;
  type: string;
  accessor: string;
  description: string;
}

export const listAuthMounts = (sql: Sql, namespaceId: string, limit: number): Promise<AuthMountRow[]> =>
  sql.query<AuthMountRow>(
    'select path, coalesce(named_type, type) as type, accessor, description from login.auth_mounts where namespace_id = $1 order by path collate "C" limit $2',
    [namespaceId, limit],
  );
