import type { Caller } from '@secrets/caller';
import { requireFound } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import { findNamespace, type NamespaceRow } from '../queries/namespaces.ts';
import { namespaceBelow } from './namespace-path.ts';

/**
 * The namespace of a path relative to the namespace of the request. Throws `invalid` if the path is not valid,
 * `not_found` if there is no such namespace.
 */
export async function requireNamespace(
  { db }: DbContext,
  caller: Caller,
  relative: string,
): Promise<NamespaceRow> {
  return requireFound(await findNamespace(db, namespaceBelow(caller.namespace.path, relative)));
}
