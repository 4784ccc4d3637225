import type { JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { KeyCache } from './key-cache.ts';

const maxMounts = 5_000;

interface Kept {
  /** Identifies the directory that they are of. */
  name: string;
  keys: Pick<KeyCache, 'find'>;
}

/**
 * The signing keys that each auth mount trusts. Mounts of one directory do not share them: a write of the configuration of
 * one, which drops its keys, must not make the others depend on the directory.
 */
export class KeysByMount {
  readonly #byMount = new LRUCache<string, Kept>({ max: maxMounts });

  /**
   * Returns the keys of a mount.
   * @param name identifies the directory that the mount is configured for; keys of another one are dropped
   */
  of(mountId: string, name: string, create: () => Kept['keys']): JWTVerifyGetKey {
    const kept = this.#byMount.get(mountId);
    if (kept?.name === name) return kept.keys.find;
    const keys = create();
    this.#byMount.set(mountId, { name, keys });
    return keys.find;
  }

  /** Drops the cached keys of a mount, as after a change of its configuration. */
  forget(mountId: string): void {
    this.#byMount.delete(mountId);
  }
}
