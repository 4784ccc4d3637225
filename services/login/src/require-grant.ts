import { type Caller, isRoot } from '@secrets/caller';
import { permissionDenied } from '@secrets/domain';

/** Refuses a write that the caller's policies do not cover: `create` for what is not there yet, `update` for what is. */
export function requireGrant(caller: Caller, exists: boolean): void {
  if (!isRoot(caller) && !caller.grants.includes(exists ? 'update' : 'create')) throw permissionDenied();
}

/** Whether the caller may pass the limits that its own token sets: the `root` policy, or `sudo` on this path. */
export const maySudo = (caller: Caller): boolean => isRoot(caller) || caller.grants.includes('sudo');
