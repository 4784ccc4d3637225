import type { Caller } from '@secrets/caller';
import { requireFound } from '@secrets/domain';
import type { Context } from '../context.ts';
import { findMount, findMountAt, type MountRow } from '../queries/mounts/mounts.ts';
import { findDeepestNamespace } from '../queries/namespaces.ts';
import { foldersOf, mountCandidates } from './mount-path.ts';

/** The mount at a path in the namespace of the request. Throws `not_found` if there is none. */
export async function requireMount(context: Context, caller: Caller, path: string): Promise<MountRow> {
  return requireFound(await findMount(context.db, caller.namespace.id, path));
}

const maxNamespaceLength = 512;

/**
 * The mount at or above a path, which may begin with a namespace below that of the request; undefined if there is none.
 * Its `path` is relative to the namespace of the request.
 */
export async function findContainingMount(
  { db }: Context,
  { namespace }: Caller,
  path: string,
): Promise<MountRow | undefined> {
  const from = namespace.path === '' ? '' : `${namespace.path}/`;
  const below = await findDeepestNamespace(db, foldersOf(from + path, from.length + maxNamespaceLength));
  const prefix =
    below !== undefined && below.path.length > from.length ? `${below.path.slice(from.length)}/` : '';
  const namespaceId = prefix === '' ? namespace.id : below!.id;
  const found = await findMountAt(db, namespaceId, mountCandidates(`${path.slice(prefix.length)}/`));
  const mount = found && (await findMount(db, namespaceId, found.path));
  return mount && { ...mount, path: prefix + mount.path };
}
