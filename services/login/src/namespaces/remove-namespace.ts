import { changeTag } from '@secrets/access';
import type { Caller } from '@secrets/caller';
import { isForeignKeyViolation, type Tx } from '@secrets/db';
import { invalid, Problem } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import {
  deleteNamespaceRow,
  findNamespace,
  findNamespaceContent,
  lockNamespace,
  type NamespaceRow,
} from '../queries/namespaces.ts';
import { revoking } from '../queries/tokens/revocations.ts';
import { isWithin, namespaceBelow } from './namespace-path.ts';

/**
 * Deletes a namespace with its policies and revokes its tokens (docs/conventions/access.md#namespaces); the sweep
 * deletes these and its entities. Returns false if it does not exist. Throws `invalid` for the administrative namespace
 * and one that contains the caller's token, `conflict` if it still holds namespaces, auth mounts, mounts, sync
 * destinations or code-host applications. The rows of the last three belong to other services and cannot be read here:
 * they refer to the namespace by a foreign key, which also keeps one from being created while this runs.
 * @param relative its path, relative to the namespace of the request
 */
export async function removeNamespace({ db }: DbContext, caller: Caller, relative: string): Promise<boolean> {
  const stored = await findNamespace(db, namespaceBelow(caller.namespace.path, relative));
  if (stored === undefined) return false;
  requireDeletable(caller, stored);
  const remove = async (tx: Tx) => {
    await lockNamespace(tx, stored.id);
    const content = await findNamespaceContent(tx, stored);
    if (content.namespaces) throw stillHolds('namespaces; delete them first');
    if (content.authMounts) throw stillHolds('auth mounts; disable them first');
    await deleteNamespaceRow(tx, stored.id);
  };
  await revoking(db, remove, [changeTag.namespace(stored.id), changeTag.quotas]).catch((error: unknown) => {
    throw heldElsewhere(error) ?? error;
  });
  return true;
}

function requireDeletable(caller: Caller, { id, path }: NamespaceRow): void {
  if (id === 'admin') throw invalid('the administrative namespace cannot be deleted');
  if (isWithin(caller.tokenNamespace.path, path))
    throw invalid('a token cannot delete its own namespace or one above it');
}

const stillHolds = (what: string) => new Problem('conflict', `the namespace still holds ${what}`);

/** Objects of other services in a namespace, by the table whose foreign key prevents its deletion. */
const heldIn = new Map([
  ['secrets.mounts', 'mounts; disable them first'],
  ['sync.destinations', 'sync destinations; delete them first'],
  ['sync.codehost_apps', 'code-host applications; delete them first'],
]);

function heldElsewhere(error: unknown): Problem | undefined {
  if (!isForeignKeyViolation(error)) return undefined;
  const { schema, table } = error as { schema?: string; table?: string };
  const what = heldIn.get(`${schema}.${table}`);
  return what === undefined ? undefined : stillHolds(what);
}
