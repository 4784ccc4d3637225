import { hasCode, type RemoveRequest } from '@secrets/sync-worker';
import { requireStatus } from '../api/secret-scope.ts';
import { isCreatedAgain, isElsewhere, parseRemembered } from './remembered.ts';
import { findSecret, type Store, timeOf } from './store.ts';

/**
 * Deletes the secret if this entry has written it, or may have: the secret itself does not show whose it is, except that
 * one which was created after the last put is not. The provider's "not found" is success, also if the repository or the
 * environment is gone. Of a repository that was renamed, it is deleted there.
 */
export async function removeSecret(store: Store, request: RemoveRequest): Promise<void> {
  const { scope, count, removed } = store;
  const { externalName, remote, putStartedAt } = request;
  if (remote === null && putStartedAt === null) return;
  if (!(await scope.place.find(store.signal))) return;
  if (isElsewhere(store, request) || (await isAnothers(store, request))) return;
  try {
    const response = await scope.delete(store.signal, externalName);
    requireStatus('deleteSecret', response, 204);
    removed.add(externalName, timeOf(response));
    count.changeBy(-1);
  } catch (error) {
    if (!hasCode(error, 'NotFound')) throw error;
  }
}

async function isAnothers(store: Store, request: RemoveRequest): Promise<boolean> {
  const known = parseRemembered(store, request);
  if (known === undefined) return false;
  const found = await findSecret(store, request.externalName);
  return found !== undefined && isCreatedAgain(found, known);
}
