import { belongsTo, hasCode, type RemoveRequest } from '@secrets/sync-worker';
import { changedMeanwhile } from './labels.ts';
import { parseRemembered } from './remembered.ts';
import { findSecret, isOutdated, owned, type Store } from './store.ts';

/**
 * Deletes the secret with all its versions if it belongs to the destination. The etag ensures that it is still the one
 * that was examined, or the one that the last put left if the provider does not show that one yet.
 */
export async function removeSecret(store: Store, request: RemoveRequest): Promise<void> {
  const { externalName: id } = request;
  const known = parseRemembered(request);
  const found = await findSecret(store, id);
  const isShown = found !== undefined && !isOutdated(found, known);
  if (isShown && !belongsTo(store.owner, owned(id, found, known))) return;
  const etag = isShown ? found.etag : known?.etag;
  if (!isShown && !etag) return;
  try {
    await store.api.delete(id, etag ?? '', store.signal);
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) return;
    throw hasCode(error, 'FAILED_PRECONDITION') ? changedMeanwhile(id) : error;
  }
}
