import { randomBytes } from 'node:crypto';
import { changeTag } from '@secrets/access';
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
import { revoking } from '../queries/tokens/revocations.ts';
import { namespaceBelow, parentPath } from './namespace-path.ts';

/**
 * Creates a namespace, or replaces the custom metadata of an existing one. Throws `invalid` if its parent does not
 * exist, `conflict` if another request has just created it, or a mount has its name.
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

/** Creates a namespace, and invalidates the caches that recorded that it does not exist. */
async function createNamespace(
  { db }: DbContext,
  path: string,
  customMetadata: Record<string, string>,
): Promise<NamespaceRow> {
  const namespace = { id: randomBytes(8).toString('hex'), path, customMetadata };
  await revoking(
    db,
    async (tx) => {
      const hasParent = await lockParentNamespace(tx, parentPath(path));
      if (!hasParent) throw invalid('path: the parent namespace does not exist');
      await insertNamespace(tx, namespace);
    },
    [changeTag.namespaceAt(path)],
  ).catch((error: unknown) => {
    throw conflictOf(error, path) ?? error;
  });
  return namespace;
}

/** A mount and a namespace never have the same name (docs/conventions/access.md#namespaces); the database finds out. */
function conflictOf(error: unknown, path: string): Problem | undefined {
  if (isUniqueViolation(error, 'names_of_mounts_and_namespaces'))
    return new Problem('conflict', `path is already in use: there is a mount at or below ${path}/`);
  return isUniqueViolation(error)
    ? new Problem('conflict', 'the namespace was just created by another request')
    : undefined;
}
