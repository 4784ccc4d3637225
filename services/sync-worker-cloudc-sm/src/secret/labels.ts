import { isDeepStrictEqual } from 'node:util';
import { Fault } from '@secrets/domain';
import { hasCode, type PutRequest, requireWritable, tagChanges } from '@secrets/sync-worker';
import type { Secret } from '../api/schema.ts';
import type { Remembered } from './remembered.ts';
import { findSecret, owned, type Store, wantedLabels } from './store.ts';

/** A secret that exists, and what is remembered of it. */
export interface RememberedSecret {
  found: Secret;
  known: Remembered | undefined;
}

export const hasWantedLabels = (store: Store, { labels }: Remembered): boolean =>
  isDeepStrictEqual(labels, wantedLabels(store));

/**
 * Requires that the destination may write the secret, sets the labels that are missing, and removes those that the last
 * put set and the destination no longer has. An update replaces all labels, so it names the etag of the labels that it
 * keeps; if somebody else was faster, the secret is read once again.
 * @returns the secret with its labels
 */
export async function claimSecret(
  store: Store,
  request: PutRequest,
  { found, known }: RememberedSecret,
): Promise<Secret> {
  try {
    return await updateLabels(store, request, { found, known });
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) throw changedMeanwhile(request.externalName);
    if (!hasCode(error, 'FAILED_PRECONDITION')) throw error;
    const again = await findSecret(store, request.externalName);
    if (again === undefined) throw changedMeanwhile(request.externalName);
    return updateLabels(store, request, { found: again, known }).catch((second: unknown) => {
      throw hasCode(second, 'FAILED_PRECONDITION') ? changedMeanwhile(request.externalName) : second;
    });
  }
}

async function updateLabels(
  store: Store,
  { externalName: id, overwrite }: PutRequest,
  { found, known }: RememberedSecret,
): Promise<Secret> {
  requireWritable(store.owner, owned(id, found, known), overwrite);
  const wanted = wantedLabels(store);
  const { missing, surplus } = tagChanges({ wanted, present: found.labels, ours: known?.labels ?? {} });
  const isLabelled = Object.keys(missing).length === 0 && surplus.length === 0;
  // If the last put has set others, what was found is older.
  if (isLabelled && (known === undefined || hasWantedLabels(store, known))) return found;
  const kept = Object.entries(found.labels).filter(([key]) => !surplus.includes(key));
  return store.api.updateLabels(
    id,
    { labels: { ...Object.fromEntries(kept), ...wanted }, etag: found.etag },
    store.signal,
  );
}

/** The fault of a read that is older than the last write of this entry. */
export const outdatedRead = (name: string): Fault =>
  new Fault('not_ready', `the provider still returns an earlier state of ${JSON.stringify(name)}`);

/** The fault of a secret that somebody else changes or deletes at the same time. */
export const changedMeanwhile = (name: string): Fault =>
  new Fault('not_ready', `${JSON.stringify(name)} was changed by somebody else at the same time`);
