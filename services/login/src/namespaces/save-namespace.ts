import { randomBytes } from 'node:crypto';
import { type Caller, requireGrant } from '@secrets/caller';
import { isUniqueViolation } from '@secrets/db';
import { invalid, Problem } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import {
  findNamespace,
  insertNamespace,
  lockParentNamespace,
  type NamespaceRow,
  updateNamespaceMetadata,
} from '../queries/namespaces.ts';
import { namespaceBelow, parentPath } from './namespace-path.ts';

/**
 * Creates a namespace, or replaces the custom metadata of an existing one. Throws `invalid` if its parent does not
 * exist, `conflict` if another request has just created it.
 * @param relative its path, relative to the namespace of the request
 * @param metadata undefined keeps what is stored
 */
export async function saveNamespace(
  context: DbContext,
  caller: Caller,
  relative: string,
  metadata: Record<string, string> | undefined,
): Promise<NamespaceRow> {
  const path = namespaceBelow(caller.namespace.path, relative);
  const stored = await findNamespace(context.db, path);
  requireGrant(caller, stored !== undefined);
  if (stored === undefined) return createNamespace(context, path, metadata ?? {});
  const customMetadata = metadata ?? stored.customMetadata;
  await updateNamespaceMetadata(context.db, stored.id, customMetadata);
  return { ...stored, customMetadata };
}

/** Concerns nothing that a process may have in memory: absent namespaces are not cached. */
async function createNamespace(
  { db }: DbContext,
  path: string,
  customMetadata: Record<string, string>,
): Promise<NamespaceRow> {
  const namespace = { id: randomBytes(8).toString('hex'), path, customMetadata };
  await db
    .transaction(async (tx) => {
      const hasParent = await lockParentNamespace(tx, parentPath(path));
      if (!hasParent) throw invalid('path: the parent namespace does not exist');
      await insertNamespace(tx, namespace);
    })
    .catch((error: unknown) => {
      throw isUniqueViolation(error)
        ? new Problem('conflict', 'the namespace was just created by another request')
        : error;
    });
  return namespace;
}
