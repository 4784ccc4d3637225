import { Fault } from '@secrets/domain';
import type { EntryRequest, Untouched } from '@secrets/sync-worker';
import type { ListedProperties } from '../api/vault-api.ts';
import { parseRemembered } from './remembered.ts';
import type { Store } from './store.ts';

/** After this time, no further page is read: an attempt must end. */
const maxMs = 10_000;

interface Wanted {
  entryId: string;
  updated: number;
}

/**
 * Reads the list of the vault until each of these secrets was found whose time of the last change is remembered, or it ends: its
 * order is not documented. Reads at most a page for every two of them, because other destinations may have thousands of secrets
 * in the vault. Credentials without the permission List find none.
 */
export async function findUntouched(
  { api, signal }: Store,
  requests: readonly EntryRequest[],
): Promise<Untouched> {
  const left = wantedByName(requests);
  const found: Untouched = { entryIds: [], pages: 0 };
  const [maxPages, endMs] = [Math.floor(left.size / 2), performance.now() + maxMs];
  let after: string | undefined;
  while (left.size > 0 && found.pages < maxPages && performance.now() < endMs) {
    found.pages += 1;
    const page = await api.list(after, signal).catch(ifForbidden);
    for (const secret of page.secrets) {
      const wanted = left.get(secret.name.toLowerCase());
      left.delete(secret.name.toLowerCase());
      if (wanted !== undefined && isAsLeft(wanted, secret)) found.entryIds.push(wanted.entryId);
    }
    if (page.next === undefined) break;
    after = page.next;
  }
  return found;
}

function wantedByName(requests: readonly EntryRequest[]): Map<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  for (const request of requests) {
    const updated = parseRemembered(request)?.updated ?? null;
    if (updated !== null)
      wanted.set(request.externalName.toLowerCase(), { entryId: request.entryId, updated });
  }
  return wanted;
}

/** A list shows the properties of the newest version. Whoever changes the value, the tags or the state changes the time, too. */
const isAsLeft = ({ updated }: Wanted, { updatedOn, enabled }: ListedProperties): boolean =>
  enabled && updatedOn?.getTime() === updated * 1_000;

function ifForbidden(error: unknown) {
  if (error instanceof Fault && error.kind === 'forbidden') return { secrets: [], next: undefined };
  throw error;
}
