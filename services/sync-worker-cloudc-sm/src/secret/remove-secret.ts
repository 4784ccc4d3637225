import { belongsTo, hasCode, type RemoveRequest } from '@secrets/sync-worker';
import { changedMeanwhile } from './labels.ts';
import { parseRemembered } from './remembered.ts';
import { findSecret, owned, type Store } from './store.ts';

/**
 * Deletes the secret with all its versions if it belongs to the destination. The etag ensures that it is still the one that was examined.
 */
export async function removeSecret(store: Store, request: RemoveRequest, signal: AbortSignal): Promise<void> {
  const { externalName: id } = request;
  const found = await findSecret(store, id, signal);
  if (found === undefined || !belongsTo(store.owner, owned(id, found, parseRemembered(request)))) return;
  try {
    await store.api.delete(id, found.etag, signal);
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) return;
    throw hasCode(error, 'FAILED_PRECONDITION') ? changedMeanwhile(id) : error;
  }
}
