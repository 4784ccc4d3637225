import { Fault } from '@secrets/domain';
import { hasCode, type RemoveRequest, releasedTag } from '@secrets/sync-worker';
import type { Found } from '../api/vault-api.ts';
import { isOwn } from './ownership.ts';
import { pollUntil } from './poll-until.ts';
import { parseRemembered } from './remembered.ts';
import type { Store } from './store.ts';

const purgeLimitMs = 3_000;

/** Deletes the secret if it belongs to the destination, and then tries to purge it. */
export async function removeSecret(store: Store, request: RemoveRequest, signal: AbortSignal): Promise<void> {
  const { externalName: name } = request;
  const found = await store.api.find(name, signal);
  if (!found || !(await isOwn(store, name, { found, known: parseRemembered(request) }, signal))) return;
  await release(store, name, found, signal);
  await store.api.delete(name, signal);
  await tryToPurge(store, name, signal);
}

/** The tags of a deleted secret cannot be changed, so it is released before. Credentials that may not do so can still delete it. */
async function release(
  { api, owner }: Store,
  name: string,
  { properties: { version, tags } }: Found,
  signal: AbortSignal,
): Promise<void> {
  try {
    await api.setTags(name, version, { ...tags, ...releasedTag(owner) }, signal);
  } catch (error) {
    const isForbidden = error instanceof Fault && error.kind === 'forbidden';
    if (!isForbidden && !hasCode(error, 'SecretNotFound')) throw error;
  }
}

/**
 * A purge can begin when the deletion has ended. If it is not permitted, or takes too long, the vault keeps the deleted secret for its retention
 * period, and a later put recovers it.
 */
async function tryToPurge({ api }: Store, name: string, signal: AbortSignal): Promise<void> {
  const attempt = async () => {
    try {
      await api.purge(name, signal);
      return 'purged';
    } catch (error) {
      if (hasCode(error, 'ObjectIsBeingDeleted', 'SecretNotFound')) return undefined;
      if (error instanceof Fault) return 'refused';
      throw error;
    }
  };
  await pollUntil(attempt, purgeLimitMs, signal);
}
