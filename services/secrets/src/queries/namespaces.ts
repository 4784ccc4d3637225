import type { Namespace } from '@secrets/caller';
import type { Sql } from '@secrets/db';

/** Returns the namespace with the longest of the paths; undefined if there is none. */
export async function findDeepestNamespace(
  sql: Sql,
  paths: readonly string[],
): Promise<Namespace | undefined> {
  const [found] = await sql.query<Namespace>(
    'select id, path from login.namespaces where path = any ($1::text[]) order by length(path) desc limit 1',
    [paths],
  );
  return found;
}
