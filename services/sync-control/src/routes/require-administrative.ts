import { type Caller, isAdministrative } from '@secrets/caller';
import { notFound } from '@secrets/domain';

/** Throws `not_found` outside of the root and the administrative namespace: only they have this path (docs/conventions.md#28-namespaces). */
export function requireAdministrative({ namespace }: Caller): void {
  if (!isAdministrative(namespace)) throw notFound();
}
