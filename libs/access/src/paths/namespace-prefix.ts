import type { Namespace } from '@secrets/caller';
import { concern } from '../changes/concerns.ts';
import type { AtEpoch } from '../read-access.ts';
import { isNamespaceName, isReservedName, namespaceAt } from './namespace-names.ts';
import type { Operation } from './operation.ts';
import { publicPath } from './path-rules.ts';

/** Where a request takes place. */
export interface Place {
  namespace: Namespace;
  /** Relative to the namespace. */
  path: string;
}

/** The namespace with a path, or the knowledge that there is none. */
export interface NamespaceSlot {
  path: string;
  namespace: Namespace | undefined;
}

/** What `readNamespace` has returned, as a value that can be cached although there may be no namespace. */
export const slotOf = (path: string, { epoch, row }: AtEpoch<Namespace>): AtEpoch<NamespaceSlot> => ({
  epoch,
  row: { path, namespace: row },
});

/** What a slot depends on: deleting the namespace, or creating one. */
export const tagsOfSlot = ({ path, namespace }: NamespaceSlot): readonly string[] => [
  namespace === undefined ? concern.namespaceAt(path) : concern.namespace(namespace.id),
];

/**
 * Returns the place of a path that may begin with the path of a namespace. The longest one counts. There is no ambiguity:
 * a mount and a namespace never have the same name (docs/conventions.md#28-namespaces). Namespaces are looked up one by one,
 * because the parent of each exists; a path without a namespace takes one look into the cache.
 */
export async function locate(
  slotAt: (path: string) => Promise<NamespaceSlot | undefined>,
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

/** A login in a namespace that the path begins with. */
export interface LoginBelow {
  /** Path of the namespace, relative to that of the request. */
  namespace: string;
  /** Path of the auth mount. */
  mount: string;
  /** Path of the request, relative to the namespace. */
  path: string;
}

/** Returns the login that a path is if it begins with a namespace: everything before the first reserved segment. */
export function loginBelow(operation: Operation, path: string): LoginBelow | undefined {
  if (operation !== 'create-or-update') return undefined;
  const segments = path.split('/');
  const end = segments.findIndex((segment) => !isNamespaceName(segment) || isReservedName(segment));
  if (end < 1) return undefined;
  const rest = segments.slice(end).join('/');
  const open = publicPath(operation, rest);
  if (open?.kind !== 'login') return undefined;
  return { namespace: segments.slice(0, end).join('/'), mount: open.mount, path: rest };
}
