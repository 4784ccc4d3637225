import { type AtEpoch, accessChanges, changeTag, epochCache, type RowSource } from '@secrets/access';
import type { LoginEndpoint } from '../auth-method.ts';
import type { LoginTarget } from './queries/stored-target.ts';

/** Finds what a login depends on; undefined if no mount of the method's type has the path. */
export type LoginTargets<Target> = (
  at: Omit<LoginEndpoint, 'remoteAddress'>,
  role: string,
) => Promise<Target | undefined>;

const maxTargets = 2_000;
/** Size of the cache in characters of JSON, each of which takes a byte or two of memory. A role may have 3 million. */
const maxCharacters = 32 * 2 ** 20;

/**
 * Caches mounts, configurations and roles, and takes changes into account before each use, so that every change
 * committed before a login arrived applies to it. If the gateway has just done that and nothing has changed since, no
 * statement is needed; otherwise, all logins of one turn of the event loop share it. A role that does not exist is not
 * cached, so that guesses do not fill the cache.
 * @param find reads them, with the name of the role in lower case
 */
export function cachedTargets<Target extends LoginTarget<unknown, unknown>>(
  source: RowSource,
  find: (namespaceId: string, mount: string, role: string) => Promise<AtEpoch<Target>>,
): LoginTargets<Target> {
  const cache = epochCache<Target>({
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
    return (await cache.get(key, () => find(namespaceId, mount, name), newestChange)).row;
  };
}
