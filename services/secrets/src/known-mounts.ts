import type { Sql } from '@secrets/db';
import { mountCandidates } from './mount-path.ts';
import { findMountAt } from './queries/mounts.ts';

/** Which mount a request is about: what every statement checks again, on its own. */
export interface MountRef {
  id: string;
  namespaceId: string;
  /** Without slashes at the ends. */
  path: string;
}

/** Thrown by a statement that no longer finds its mount enabled at its path. */
export class MountGone extends Error {
  override readonly name = 'MountGone';
}

const maxMounts = 10_000;

/**
 * Finds the mount of a path. What it remembers may be out of date: statements say so with `MountGone`, and then it
 * is forgotten. As mounts never lie inside each other, at most one prefix of a path is a mount.
 */
export class KnownMounts {
  readonly #db: Sql;
  readonly #known = new Map<string, MountRef>();

  constructor(db: Sql) {
    this.#db = db;
  }

  async find(namespaceId: string, path: string): Promise<MountRef | undefined> {
    const candidates = mountCandidates(path);
    for (const candidate of candidates) {
      const known = this.#known.get(keyOf(namespaceId, candidate));
      if (known !== undefined) return known;
    }
    const found = await findMountAt(this.#db, namespaceId, candidates);
    if (found !== undefined) this.#remember(found);
    return found;
  }

  forget(mount: MountRef): void {
    this.#known.delete(keyOf(mount.namespaceId, mount.path));
  }

  #remember(mount: MountRef): void {
    if (this.#known.size >= maxMounts) this.#known.clear();
    this.#known.set(keyOf(mount.namespaceId, mount.path), mount);
  }
}

const keyOf = (namespaceId: string, path: string): string => `${namespaceId}\n${path}`;
