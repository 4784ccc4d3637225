import type { Sql } from '@secrets/db';
import { LRUCache } from 'lru-cache';
import { authMountByPath } from '../queries/auth-mounts.ts';

/** The place of an auth mount. */
interface MountAddress {
  namespaceId: string;
  /** Path of the mount. */
  mount: string;
}

/**
 * Types of auth mounts, cached so that a login needs no statement to find its method. A cached type may be outdated: a
 * method that finds no mount of its type (`NoSuchMount`) is the reason to `forget` it and look again.
 */
export interface MountTypes {
  /** The type of the mount of a path; undefined if there is none, which is not cached. */
  find(at: MountAddress): Promise<string | undefined>;
  forget(at: MountAddress): void;
}

const maxMounts = 10_000;

export function mountTypes(db: Sql): MountTypes {
  const cache = new LRUCache<string, string>({ max: maxMounts });
  const keyOf = ({ namespaceId, mount }: MountAddress) => `${namespaceId} ${mount}`;
  return {
    find: async (at) => {
      const cached = cache.get(keyOf(at));
      if (cached !== undefined) return cached;
      const mount = await authMountByPath(db, at.namespaceId, at.mount);
      if (mount !== undefined) cache.set(keyOf(at), mount.type);
      return mount?.type;
    },
    forget: (at) => void cache.delete(keyOf(at)),
  };
}
