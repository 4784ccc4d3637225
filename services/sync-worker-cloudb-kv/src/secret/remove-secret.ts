import { Fault } from '@secrets/domain';
import { hasCode, type RemoveRequest } from '@secrets/sync-worker';
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
  await store.api.delete(name, signal);
  await tryToPurge(store, name, signal);
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
