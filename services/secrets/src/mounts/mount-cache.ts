import type { Sql } from '@secrets/db';
import { LRUCache } from 'lru-cache';
import { findMountAt } from '../queries/mounts/mounts.ts';
import { mountCandidates } from './mount-path.ts';
import type { MountRef } from './mount-ref.ts';

const maxMounts = 10_000;

/**
 * Finds the mount of a path. Mounts are never nested, so at most one prefix of a path is a mount. A cached mount may
 * have been disabled by another process: statements then throw `StaleMountError`, and the caller calls `forget`.
 */
export class MountCache {
  readonly #db: Sql;
  readonly #mounts = new LRUCache<string, MountRef>({ max: maxMounts });

  constructor(db: Sql) {
    this.#db = db;
  }

  async find(namespaceId: string, path: string): Promise<MountRef | undefined> {
    const candidates = mountCandidates(path);
    for (const candidate of candidates) {
      const cached = this.#mounts.get(keyOf(namespaceId, candidate));
      if (cached !== undefined) return cached;
    }
    const found = await findMountAt(this.#db, namespaceId, candidates);
    if (found !== undefined) this.#mounts.set(keyOf(namespaceId, found.path), found);
    return found;
  }

  forget({ namespaceId, path }: MountRef): void {
    this.#mounts.delete(keyOf(namespaceId, path));
  }
}

const keyOf = (namespaceId: string, path: string): string => `${namespaceId}\n${path}`;
