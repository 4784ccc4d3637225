import type { Caller } from '@secrets/caller';
import type { Sql } from '@secrets/db';
import { errorCode } from '@secrets/domain';
import type { Context } from '../context.ts';
import { disableMountRow } from '../queries/mounts/change-mounts.ts';
import { countExternalSecrets } from '../queries/mounts/purge.ts';

/**
 * Disables the mount at a path, if there is one; its content is purged in the background. Returns a warning about the
 * external secrets that will be removed for it, if there are any.
 */
export async function removeMount(
  context: Context,
  caller: Caller,
  path: string,
): Promise<string | undefined> {
  const id = await disableMountRow(context.db, caller.namespace.id, path);
  if (id === undefined) return undefined;
  context.background.notifyMountDisabled();
  const count = await externalSecrets(context.db, id);
  return count === 0 ? undefined : warningAbout(count);
}

/** The warning says "at least" from here on. */
const maxCounted = 100;

/** The schema of sync-control is not there yet, or this role may not use it. */
const notThere = new Set(['42883', '3F000', '42501']);

async function externalSecrets(db: Sql, mountId: string): Promise<number> {
  try {
    return await countExternalSecrets(db, mountId, maxCounted);
  } catch (error) {
    if (notThere.has(errorCode(error) ?? '')) return 0;
    throw error;
  }
}

const warningAbout = (count: number): string =>
  `${count === maxCounted ? `at least ${count}` : count} external ${count === 1 ? 'secret' : 'secrets'} of this mount will be removed; ` +
  'a destination that would lose too many keeps them until that is confirmed there (…/confirm-removals)';
