import type { Caller } from '@secrets/caller';
import { requireFound } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import { type AuthMountRow, findAuthMount } from '../queries/auth-mounts.ts';

/**
 * The auth mount of a path in the namespace of the request. Throws `not_found` if there is none.
 * @param absence the message of that error; by default, it has none
 */
export async function requireAuthMount(
  { db }: DbContext,
  caller: Caller,
  path: string,
  absence?: string,
): Promise<AuthMountRow> {
  return requireFound(await findAuthMount(db, caller.namespace.id, path), absence);
}

/** Why a path below `auth/` is not found. */
export const noAuthMount = (path: string): string => `no auth method is mounted at ${path}/`;
