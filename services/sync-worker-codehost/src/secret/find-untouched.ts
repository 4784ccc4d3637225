import { type EntryRequest, parseResponse, type Untouched } from '@secrets/sync-worker';
import { type FoundSecret, ListedSecrets } from '../api/schema.ts';
import { pageSize } from '../api/secret-scope.ts';
import { isUntouched } from './inspect-secret.ts';
import { isCreatedAgain, parseRemembered } from './remembered.ts';
import { type Store, withScope } from './store.ts';

/** An organization has at most 1,000 secrets (https://docs.github.com/en/actions/reference/security/secrets#limits-for-secrets). */
const maxPages = 10;

/** Reads the list until each of these secrets was found, or it ends: its order is not documented. */
export async function findUntouched(store: Store, requests: readonly EntryRequest[]): Promise<Untouched> {
  const { scope, signal } = store;
  await scope.place.require(signal);
  const left = new Map(requests.map((request) => [request.externalName.toUpperCase(), request]));
  const entryIds: string[] = [];
  let page = 0;
  while (page < maxPages && left.size > 0) {
    page += 1;
    const { data } = await withScope(store, () => scope.list(signal, page));
    const { total_count: total, secrets } = parseResponse('listSecrets', ListedSecrets, data);
    for (const { name, ...found } of secrets) {
      const request = left.get(name.toUpperCase());
      if (request === undefined) continue;
      left.delete(name.toUpperCase());
      if (isAsLeft(store, request, found)) entryIds.push(request.entryId);
    }
    if (secrets.length === 0 || page * pageSize >= total) break;
  }
  return { entryIds, pages: page };
}

function isAsLeft(store: Store, request: EntryRequest, found: FoundSecret): boolean {
  const known = parseRemembered(store, request);
  if (known === undefined || store.removed.includes(request.externalName, found.updated_at)) return false;
  return !isCreatedAgain(found, known) && isUntouched(found, known);
}
