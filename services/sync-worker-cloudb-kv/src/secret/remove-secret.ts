import { Fault } from '@secrets/domain';
import {
  hasCode,
  marksOf,
  type ReleaseRequest,
  type RemoveRequest,
  releasedTag,
  withoutMarks,
} from '@secrets/sync-worker';
import { findAnyway } from './find-anyway.ts';
import { hasVersion, isOwn, isRefused } from './ownership.ts';
import { pollUntil } from './poll-until.ts';
import { parseRemembered } from './remembered.ts';
import type { Store } from './store.ts';

const purgeLimitMs = 3_000;

/**
 * Deletes the secret if it belongs to the destination, and then tries to purge it unless it must stay recoverable. The
 * vault may not show a secret yet that was just written.
 */
export async function removeSecret(store: Store, request: RemoveRequest): Promise<void> {
  const { externalName: name } = request;
  const known = parseRemembered(request);
  const found = await findAnyway(store, name);
  const isOurs = found
    ? await isOwn(store, name, { found, known })
    : known !== undefined && (await hasVersion(store, known));
  if (!isOurs) return;
  await release(store, name, found?.properties.tags ?? {});
  await store.api.delete(name, store.signal);
  if (!request.isRecoverable) await tryToPurge(store, name);
}

/**
 * Removes the built-in tags from the newest version of the secret, if it has them. An update replaces all tags
 * (https://learn.microsoft.com/rest/api/keyvault/secrets/update-secret/update-secret).
 */
export async function releaseSecret(store: Store, request: ReleaseRequest): Promise<void> {
  const { api, owner, signal } = store;
  const tags = (await findAnyway(store, request.externalName))?.properties.tags ?? {};
  if (marksOf(owner, tags).length === 0) return;
  try {
    await api.update(request.externalName, { tags: withoutMarks(owner, tags) }, signal);
  } catch (error) {
    if (!hasCode(error, 'SecretNotFound')) throw error;
  }
}

/**
 * The tags of a deleted secret cannot be changed, so it is released before. Where credentials or a policy do not permit that, it
 * can still be deleted.
 */
async function release(
  { api, owner, signal }: Store,
  name: string,
  tags: Record<string, string>,
): Promise<void> {
  try {
    await api.update(name, { tags: { ...tags, ...releasedTag(owner) } }, signal);
  } catch (error) {
    if (!isRefused(error) && !hasCode(error, 'SecretNotFound')) throw error;
  }
}

/**
 * A purge can begin when the deletion has ended. If it is not permitted, or takes too long, the vault keeps the deleted
 * secret for its retention period, and a later put recovers it.
 */
async function tryToPurge({ api, signal }: Store, name: string): Promise<void> {
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
