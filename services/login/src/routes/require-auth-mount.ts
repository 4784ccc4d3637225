import type { Caller } from '@secrets/caller';
import { Problem } from '@secrets/domain';
import type { Context } from '../context.ts';
import { type AuthMount, authMountByPath } from '../queries/auth-mounts.ts';

/** The auth mount that a path names, in the namespace of the request; 404 when there is none. */
export async function requireAuthMount(context: Context, caller: Caller, path: string): Promise<AuthMount> {
  const mount = await authMountByPath(context.db, caller.namespace.id, path);
  if (mount === undefined) throw new Problem('not_found', `no auth method is mounted at ${path}/`);
  return mount;
}
