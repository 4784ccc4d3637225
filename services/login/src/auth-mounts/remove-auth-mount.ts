import { changeTag } from '@secrets/access';
import type { Caller } from '@secrets/caller';
import { invalid } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import { deleteAuthMount, findAuthMount } from '../queries/auth-mounts.ts';
import { revoking } from '../queries/tokens/revocations.ts';

/**
 * Disables an auth mount: deletes its configuration and roles, and revokes every token that it issued. The sweep
 * deletes these and its entities. Its path is free at once. Succeeds if there is none. Throws `invalid` for the
 * built-in mount.
 */
export async function removeAuthMount({ db }: DbContext, caller: Caller, path: string): Promise<void> {
  if (path === 'token') throw invalid('path: token is built in');
  const mount = await findAuthMount(db, caller.namespace.id, path);
  if (mount === undefined) return;
  const tags = [changeTag.mount(mount.id), changeTag.groups(caller.namespace.id)]; // its group aliases are deleted, too
  await revoking(db, (tx) => deleteAuthMount(tx, mount.id), tags);
}
