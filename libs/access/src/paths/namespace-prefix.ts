import type { Namespace } from '@secrets/caller';
import type { AtEpoch } from '../read-access.ts';
import type { EpochCache } from '../tokens/epoch-cache.ts';
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
  namespace: Namespace | undefined;
}

/**
 * Returns the place of a path that may begin with the path of a namespace. The longest one counts. There is no ambiguity:
 * a mount and a namespace never have the same name (docs/conventions.md#28-namespaces). Namespaces are looked up one by one,
 * because the parent of each exists; a path without a namespace takes one look into the cache.
 */
export async function locate(
  slots: EpochCache<NamespaceSlot>,
  read: (path: string) => Promise<AtEpoch<Namespace>>,
  start: Place,
): Promise<Place> {
  let place = start;
  for (;;) {
    const split = splitFirst(place.path);
    if (split === undefined) return place;
    const path = namespaceAt(place.namespace.path, split.first);
    const slot = await slots.get(path, async () => slotAtEpoch(await read(path)));
    if (slot?.namespace === undefined) return place;
    place = { namespace: slot.namespace, path: split.rest };
  }
}

/** Unlike a row that is absent, this is cached: creating a namespace moves the epoch. */
const slotAtEpoch = ({ epoch, row }: AtEpoch<Namespace>): AtEpoch<NamespaceSlot> => ({
  epoch,
  row: { namespace: row },
});

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
  const segments = path.split('/');
  const end = segments.findIndex((segment) => !isNamespaceName(segment) || isReservedName(segment));
  if (end < 1) return undefined;
  const rest = segments.slice(end).join('/');
  const open = publicPath(operation, rest);
  if (open?.kind !== 'login') return undefined;
  return { namespace: segments.slice(0, end).join('/'), mount: open.mount, path: rest };
}
