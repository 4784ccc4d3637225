import type { Caller } from '@secrets/caller';
import type { Sql } from '@secrets/db';
import { notFound, type Problem } from '@secrets/domain';
import { type AuthMount, authMountByPath } from '../queries/auth-mounts.ts';

/** The auth mount of a path in the namespace of the request. Throws `not_found` if there is none. */
export async function requireAuthMount(sql: Sql, caller: Caller, path: string): Promise<AuthMount> {
  const mount = await authMountByPath(sql, caller.namespace.id, path);
  if (mount === undefined) throw noAuthMount(path);
  return mount;
}

export const noAuthMount = (path: string): Problem => notFound(`no auth method is mounted at ${path}/`);
