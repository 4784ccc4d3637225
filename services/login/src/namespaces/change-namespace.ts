import { type Caller, requireGrant } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { invalid, notFound } from '@secrets/domain';
import {
  deleteNamespace,
  insertNamespace,
  type NamespaceRow,
  namespaceByPath,
  updateNamespaceMetadata,
} from '../queries/namespaces.ts';
import { patchedMetadata } from './custom-metadata.ts';
import { isWithin, parentPath } from './namespace-path.ts';

/**
 * Creates a namespace, or replaces the custom metadata of an existing one.
 * @param customMetadata undefined keeps what is stored
 */
export async function saveNamespace(
  db: Db,
  caller: Caller,
  path: string,
  customMetadata: Record<string, string> | undefined,
): Promise<NamespaceRow> {
  const stored = await namespaceByPath(db, path);
  requireGrant(caller, stored !== undefined);
  if (stored === undefined)
    return insertNamespace(db, {
      path,
      parentPath: parentPath(path),
      customMetadata: customMetadata ?? {},
    });
  return replaceMetadata(db, stored, customMetadata ?? stored.customMetadata);
}

/** Applies a merge patch to the custom metadata of a namespace. Throws `not_found` if it does not exist. */
export async function patchNamespaceMetadata(
  db: Db,
  path: string,
  patch: Record<string, string | null> | null,
): Promise<NamespaceRow> {
  const stored = await namespaceByPath(db, path);
  if (stored === undefined) throw notFound();
  return replaceMetadata(db, stored, patchedMetadata(stored.customMetadata, patch));
}

async function replaceMetadata(
  db: Db,
  namespace: NamespaceRow,
  customMetadata: Record<string, string>,
): Promise<NamespaceRow> {
  await updateNamespaceMetadata(db, namespace.id, customMetadata);
  return { ...namespace, customMetadata };
}

/** Deletes a namespace (docs/conventions.md#28-namespaces). Succeeds if it does not exist. */
export async function removeNamespace(db: Db, caller: Caller, path: string): Promise<void> {
  const stored = await namespaceByPath(db, path);
  if (stored === undefined) return;
  if (stored.id === 'admin') throw invalid('the administrative namespace cannot be deleted');
  if (isWithin(caller.tokenNamespace.path, stored.path))
    throw invalid('a token cannot delete its own namespace or one above it');
  await deleteNamespace(db, stored);
}
