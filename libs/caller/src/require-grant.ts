import { permissionDenied } from '@secrets/domain';
import { type Caller, type Capability, isRoot } from './caller.ts';

/** Refuses what the caller's policies do not grant on the path of this request. */
export function requireCapability(caller: Caller, capability: Capability): void {
  if (!isRoot(caller) && !caller.grants.includes(capability)) throw permissionDenied();
}

/** Refuses a write that the caller's policies do not grant: `update` for what exists, `create` for what does not. */
export const requireGrant = (caller: Caller, exists: boolean): void =>
  requireCapability(caller, exists ? 'update' : 'create');

/** Whether the caller may exceed the limits of its own token: the `root` policy, or `sudo` on this path. */
export const maySudo = (caller: Caller): boolean => isRoot(caller) || caller.grants.includes('sudo');
