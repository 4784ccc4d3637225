import type { Caller } from '@secrets/caller';
import { notFound } from '@secrets/domain';
import type { Context } from '../context.ts';
import { findMount, findMountAt, type MountRow } from '../queries/mounts.ts';
import { mountCandidates } from './mount-path.ts';

/** The mount at a path in the namespace of the request. Throws `not_found` if there is none. */
export async function requireMount(context: Context, caller: Caller, path: string): Promise<MountRow> {
  const mount = await findMount(context.db, caller.namespace.id, path);
  if (mount === undefined) throw notFound();
  return mount;
}

/** The mount at or above a path in the namespace of the request. Throws `not_found` if there is none. */
export async function requireContainingMount(
  context: Context,
  caller: Caller,
  path: string,
): Promise<MountRow> {
  const found = await findMountAt(context.db, caller.namespace.id, mountCandidates(`${path}/`));
  if (found === undefined) throw notFound();
  return requireMount(context, caller, found.path);
}
