import type { Caller } from '@secrets/caller';
import type { DbContext } from '../db-context.ts';
import { type NamespaceRow, updateNamespaceMetadata } from '../queries/namespaces.ts';
import { patchedMetadata } from './custom-metadata.ts';
import { requireNamespace } from './require-namespace.ts';

/**
 * Applies a merge patch to the custom metadata of a namespace. Throws `not_found` if the namespace does not exist,
 * `invalid` if the result is too large.
 * @param relative its path, relative to the namespace of the request
 */
export async function patchNamespaceMetadata(
  context: DbContext,
  caller: Caller,
  relative: string,
  patch: Record<string, string | null> | null,
): Promise<NamespaceRow> {
  const stored = await requireNamespace(context, caller, relative);
  const customMetadata = patchedMetadata(stored.customMetadata, patch);
  await updateNamespaceMetadata(context.db, stored.id, customMetadata);
  return { ...stored, customMetadata };
}
