import { notFound, permissionDenied } from '@secrets/domain';
import { type Caller, type Capability, isAdministrative, isRoot } from './caller.ts';

/**
 * Requires that the caller's policies grant a capability on the path of this request.
 * @throws `permissionDenied()`
 */
export function requireCapability(caller: Caller, capability: Capability): void {
  if (!isRoot(caller) && !caller.grants.includes(capability)) throw permissionDenied();
}

/** Requires the capability for a write: `update` if the object exists, `create` if it does not. */
export const requireGrant = (caller: Caller, exists: boolean): void =>
  requireCapability(caller, exists ? 'update' : 'create');

/** Whether the caller may exceed the limits of its own token: the `root` policy, or `sudo` on this path. */
export const maySudo = (caller: Caller): boolean => isRoot(caller) || caller.grants.includes('sudo');

/**
 * Throws `not_found` outside of the root and the administrative namespace: only they have this path
 * (docs/conventions/access.md#namespaces).
 */
export function requireAdministrative({ namespace }: Caller): void {
  if (!isAdministrative(namespace)) throw notFound();
}
