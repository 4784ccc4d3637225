import { epochCache, readEpoch, sharedRead } from '@secrets/access';
import type { Sql } from '@secrets/db';
import { type LoginTarget, readLoginTarget } from '../queries/cloudb.ts';

/** Finds what a login is decided by; undefined when no such mount stands in the namespace. */
export type LoginTargets = (
  namespaceId: string,
  mount: string,
  role: string,
) => Promise<LoginTarget | undefined>;

const maxTargets = 2_000;

/**
 * Keeps mounts, configurations and roles in memory, and looks at the epoch before each use: a change that was
 * committed before a login arrived holds for it. All logins of one turn of the event loop share that look. What is
 * not there is not kept, so strangers' guesses fill nothing.
 */
export function loginTargets(db: Sql): LoginTargets {
  const cache = epochCache<LoginTarget>({
    epochNow: sharedRead(() => readEpoch(db)),
    maxEntries: maxTargets,
    isCacheable: ({ role }) => role !== null,
  });
  return (namespaceId, mount, role) => {
    const name = role.toLowerCase();
    return cache.get(JSON.stringify([namespaceId, mount, name]), () =>
      readLoginTarget(db, namespaceId, mount, name),
    );
  };
}
