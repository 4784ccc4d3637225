import type { Sql } from '@secrets/db';
import { LRUCache } from 'lru-cache';
import { findAuthMount } from '../queries/auth-mounts.ts';

/** The place of an auth mount. */
interface MountAddress {
  namespaceId: string;
  /** Path of the mount. */
  mount: string;
}

/**
 * Types of auth mounts, cached so that a login needs no statement to find its method. A cached type can be outdated,
 * because another mount may take the path of a disabled one.
 */
export interface MountTypes {
  /** The type of the mount of a path, possibly outdated; undefined if there is none, which is not cached. */
  find(at: MountAddress): Promise<string | undefined>;
  /** Reads the type again. */
  refresh(at: MountAddress): Promise<string | undefined>;
}

const maxMounts = 10_000;

export function mountTypes(db: Sql): MountTypes {
  const cache = new LRUCache<string, string>({ max: maxMounts });
  const keyOf = ({ namespaceId, mount }: MountAddress) => `${namespaceId} ${mount}`;
  const refresh = async (at: MountAddress) => {
    const mount = await findAuthMount(db, at.namespaceId, at.mount);
    if (mount === undefined) cache.delete(keyOf(at));
    else cache.set(keyOf(at), mount.type);
    return mount?.type;
  };
  return { find: async (at) => cache.get(keyOf(at)) ?? refresh(at), refresh };
}
