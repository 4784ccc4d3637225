import { Fault } from '@secrets/domain';
import type { Properties } from '../api/vault-api.ts';
import type { Store } from './store.ts';

/** The pages of versions that are read at most, each with 25. */
const maxPages = 20;

/**
 * Returns the properties of the newest version of a disabled secret, which a vault shows only in a list or after a write. The
 * order of the list is not documented, so all of it is read
 * (https://learn.microsoft.com/rest/api/keyvault/secrets/get-secret-versions/get-secret-versions).
 * @throws {Fault} `forbidden` without the permission List
 */
export async function newestVersion({ api, signal }: Store, name: string): Promise<Properties> {
  let newest: Properties | undefined;
  let after: string | undefined;
  for (let page = 1; page <= maxPages; page += 1) {
    const { secrets, next } = await api.listVersions(name, after, signal);
    newest = secrets.reduce<Properties | undefined>(newerOf, newest);
    if (next === undefined) return requireFound(newest, name);
    after = next;
  }
  throw new Fault('rejected', `the disabled secret ${JSON.stringify(name)} has too many versions to look at`);
}

/** Times are in whole seconds. Of versions with the same one, the newest is that which readers find disabled. */
function newerOf(one: Properties | undefined, other: Properties): Properties {
  const [first, second] = [one?.createdOn?.getTime() ?? 0, other.createdOn?.getTime() ?? 0];
  return one === undefined || first < second || (first === second && !other.enabled) ? other : one;
}

function requireFound(newest: Properties | undefined, name: string): Properties {
  if (newest !== undefined) return newest;
  throw new Fault('not_ready', `the vault does not list the versions of ${JSON.stringify(name)} yet`);
}
