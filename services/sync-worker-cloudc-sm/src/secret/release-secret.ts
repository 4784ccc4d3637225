import { hasCode, marksOf, type ReleaseRequest, withoutMarks } from '@secrets/sync-worker';
import { changedMeanwhile, outdatedRead } from './labels.ts';
import { parseRemembered } from './remembered.ts';
import { findSecret, isOutdated, type Store } from './store.ts';

/** Removes the built-in labels from the secret, if it has them; the etag ensures that it keeps all others. */
export async function releaseSecret(store: Store, request: ReleaseRequest): Promise<void> {
  const { externalName: id } = request;
  const known = parseRemembered(request);
  const found = await findSecret(store, id);
  if (found === undefined) return;
  if (isOutdated(found, known)) throw outdatedRead(id);
  if (marksOf(store.owner, found.labels).length === 0) return;
  const labels = withoutMarks(store.owner, found.labels);
  try {
    await store.api.updateLabels(id, { labels, etag: found.etag }, store.signal);
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) return;
    throw hasCode(error, 'FAILED_PRECONDITION') ? changedMeanwhile(id) : error;
  }
}
