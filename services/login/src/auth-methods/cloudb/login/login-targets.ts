import { accessChanges, changeTag, epochCache, type RowSource } from '@secrets/access';
import type { LoginEndpoint } from '../../auth-method.ts';
import { findLoginTarget, type LoginTarget } from '../queries/login-target.ts';

/** Finds what a login depends on; undefined if no mount of this type has the path. */
export type LoginTargets = (
  at: Omit<LoginEndpoint, 'remoteAddress'>,
  role: string,
) => Promise<LoginTarget | undefined>;

const maxTargets = 2_000;
/** Size of the cache in characters of JSON, each of which takes a byte or two of memory. A role may have 3 million. */
const maxCharacters = 32 * 2 ** 20;

/**
 * Caches mounts, configurations and roles, and takes changes into account before each use, so that every change
 * committed before a login arrived applies to it. If the gateway has just done that and nothing has changed since, no
 * statement is needed; otherwise, all logins of one turn of the event loop share it. A role that does not exist is not
 * cached, so that guesses do not fill the cache.
 */
export function loginTargets(source: RowSource): LoginTargets {
  const cache = epochCache<LoginTarget>({
    changes: accessChanges(source.db),
    maxEntries: maxTargets,
    tagsOf: ({ mountId }) => [changeTag.mount(mountId), changeTag.logins(mountId)],
    isCacheable: ({ role }) => role !== null,
    weightOf: (target) => JSON.stringify(target).length,
    maxWeight: maxCharacters,
  });
  return async ({ namespaceId, mount, newestChange }, role) => {
    const name = role.toLowerCase();
    const key = JSON.stringify([namespaceId, mount, name]);
    return (await cache.get(key, () => findLoginTarget(source, namespaceId, mount, name), newestChange)).row;
  };
}
