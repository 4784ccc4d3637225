import type { Namespace } from '@secrets/caller';
import { changeTag } from '../changes/change-tags.ts';
import type { AtEpoch } from '../read-access.ts';
import { isNamespaceName, isReservedName, namespaceAt } from './namespace-names.ts';
import type { Operation } from './operation.ts';
import { publicPath } from './path-rules.ts';

/** Where a request takes place. */
export interface Place {
  readonly namespace: Namespace;
  /** Relative to the namespace. */
  readonly path: string;
}

/** The result of looking up a namespace by its path; undefined if there is none. */
export interface NamespaceLookup {
  path: string;
  namespace: Namespace | undefined;
}

/** Wraps the result of `readNamespace`, so that its absence can be cached, too. */
export const lookupOf = (path: string, { epoch, row }: AtEpoch<Namespace>): AtEpoch<NamespaceLookup> => ({
  epoch,
  row: { path, namespace: row },
});

/** Returns the tags of the changes that make a result outdated: deleting the namespace, or creating one with its path. */
export const tagsOfLookup = ({ path, namespace }: NamespaceLookup): readonly string[] => [
  namespace === undefined ? changeTag.namespaceAt(path) : changeTag.namespace(namespace.id),
];

/**
 * Resolves a path that may begin with the path of a namespace; the longest existing one is used. There is no ambiguity: a mount
 * and a namespace never have the same name (docs/conventions/access.md#namespaces). Namespaces are looked up one by one, because
 * the parent of each exists; a path without a namespace takes one look into the cache.
 */
export async function locate(
  slotAt: (path: string) => Promise<NamespaceLookup | undefined>,
  start: Place,
): Promise<Place> {
  let place = start;
  for (;;) {
    const split = splitFirst(place.path);
    if (split === undefined) return place;
    const slot = await slotAt(namespaceAt(place.namespace.path, split.first));
    if (slot?.namespace === undefined) return place;
    place = { namespace: slot.namespace, path: split.rest };
  }
}

/** The first segment of a path and what follows; undefined if that segment cannot be a namespace, or nothing follows. */
function splitFirst(path: string): { first: string; rest: string } | undefined {
  const slash = path.indexOf('/');
  const first = path.slice(0, slash);
  if (slash < 0 || !isNamespaceName(first) || isReservedName(first)) return undefined;
  return { first, rest: path.slice(slash + 1) };
}

/** A login whose path begins with a namespace. */
export interface NamespacedLogin {
  /** Path of the namespace, relative to that of the request. */
  namespace: string;
  /** Path of the auth mount. */
  mount: string;
  /** Path of the request, relative to the namespace. */
  path: string;
}

/** Parses a login whose path begins with a namespace: the segments before the first reserved one. Undefined if it is none. */
export function namespacedLogin(operation: Operation, path: string): NamespacedLogin | undefined {
  if (operation !== 'create-or-update') return undefined;
  const segments = path.split('/');
  const end = segments.findIndex((segment) => !isNamespaceName(segment) || isReservedName(segment));
  if (end < 1) return undefined;
  const rest = segments.slice(end).join('/');
  const open = publicPath(operation, rest);
  if (open?.kind !== 'login') return undefined;
  return { namespace: segments.slice(0, end).join('/'), mount: open.mount, path: rest };
}
