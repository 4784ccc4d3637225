import { hasCode, type Owner, parseResponse } from '@secrets/sync-worker';
import { FoundSecret } from '../api/schema.ts';
import type { ScopeResponse, SecretScope } from '../api/secret-scope.ts';
import type { OrganizationAccess } from './organization-access.ts';
import type { RemovedSecrets } from './removed-secrets.ts';
import type { ScopeKey } from './scope-key.ts';
import type { SecretCount } from './secret-count.ts';

/** Dependencies of a put or a removal. */
export interface Store {
  scope: SecretScope;
  key: ScopeKey;
  count: SecretCount;
  removed: RemovedSecrets;
  /** Undefined unless the secrets are those of an organization. */
  access: OrganizationAccess | undefined;
  owner: Owner;
  /** Aborts the put or the removal. */
  signal: AbortSignal;
}

/** Returns undefined if the provider says that there is none, which it also says if the credentials may not see it. */
export async function findSecret({ scope, signal }: Store, name: string): Promise<FoundSecret | undefined> {
  try {
    const { data } = await scope.get(signal, name);
    return parseResponse('getSecret', FoundSecret, data);
  } catch (error) {
    if (hasCode(error, 'NotFound')) return undefined;
    throw error;
  }
}

/**
 * Checks the place, and looks at the secret meanwhile: neither changes anything. The first put of a client does one after the
 * other: it does not know yet how the place is addressed, nor whether a secret that is not found is only not visible.
 * @returns the secret, once the place has passed; a function, since a fault of the look may not matter
 */
export async function lookInPlace(
  store: Store,
  name: string,
): Promise<() => Promise<FoundSecret | undefined>> {
  const { scope, key, signal } = store;
  const canBegin = scope.place.isAddressed && key.isHeld;
  const looking = canBegin ? findSecret(store, name) : undefined;
  const [checked] = await Promise.allSettled([scope.place.require(signal), looking]);
  if (checked.status === 'rejected') throw checked.reason; // it says more than a fault of the look
  return () => looking ?? findSecret(store, name);
}

/** Runs calls that fail with "not found" only if the scope itself cannot be found or written. */
export async function withScope<Result>({ scope }: Store, calls: () => Promise<Result>): Promise<Result> {
  try {
    return await calls();
  } catch (error) {
    if (!hasCode(error, 'NotFound')) throw error;
    throw scope.place.gone();
  }
}

/** When the provider sent a response, by its own clock; null if it does not say. */
export function timeOf({ headers }: ScopeResponse): string | null {
  const ms = Date.parse(headers.date ?? '');
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}
