import { hasCode, type RemoveRequest } from '@secrets/sync-worker';
import { requireStatus } from '../api/secret-scope.ts';
import type { Store } from './store.ts';

/**
 * Deletes the secret if this entry has written it, or may have: the secret itself does not show whose it is. The provider's "not found" is
 * success, also if the repository or the environment is gone.
 */
export async function removeSecret(
  { scope, count }: Store,
  { externalName, remote, putStartedAt }: RemoveRequest,
  signal: AbortSignal,
): Promise<void> {
  if (remote === null && putStartedAt === null) return;
  try {
    requireStatus('deleteSecret', await scope.delete(signal, externalName), 204);
    count.changeBy(-1);
  } catch (error) {
    if (!hasCode(error, 'NotFound')) throw error;
  }
}
