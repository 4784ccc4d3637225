import { changeTag } from '@secrets/access';
import type { Tx } from '@secrets/db';
import { requireFound } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import { type AuthMountRow, lockAuthMount } from '../queries/auth-mounts.ts';
import { revoking } from '../queries/tokens/revocations.ts';

/**
 * Runs a change to what belongs to an auth mount, one at a time. Records the change, so that the next login on every
 * replica sees it. The mount is what it is while no other change is made to it. Throws `not_found` if the mount was
 * disabled in the meantime.
 */
export const changingMount = <T>(
  { db }: DbContext,
  mountId: string,
  work: (tx: Tx, mount: AuthMountRow) => Promise<T>,
): Promise<T> =>
  revoking(
    db,
    async (tx) => {
      const mount = requireFound(await lockAuthMount(tx, mountId));
      return work(tx, mount);
    },
    [changeTag.logins(mountId)],
  );
