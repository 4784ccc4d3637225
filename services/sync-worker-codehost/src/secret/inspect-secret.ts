import type { InspectRequest, Look } from '@secrets/sync-worker';
import type { FoundSecret } from '../api/schema.ts';
import { isCreatedAgain, parseRemembered, type Remembered } from './remembered.ts';
import { findSecret, type Store, withScope } from './store.ts';

/**
 * Reads when the secret was created and last written: the provider never returns values. "Not found" may be about the repository,
 * so it is believed only if the public key is then found there, not one that was read before.
 */
export async function inspectSecret(store: Store, request: InspectRequest): Promise<Look> {
  await store.scope.place.require(store.signal);
  const { externalName: name } = request;
  const known = parseRemembered(store, request);
  const found = await findSecret(store, name);
  if (found === undefined) await withScope(store, () => store.scope.getPublicKey(store.signal));
  if (found === undefined || store.removed.includes(name, found.updated_at)) return { exists: false };
  const isOwn =
    known === undefined
      ? request.remote === null && request.putStartedAt !== null
      : !isCreatedAgain(found, known);
  return {
    exists: true,
    belongs: isOwn ? 'own' : 'none',
    mark: `${found.created_at} ${found.updated_at}`,
    isUntouched: isOwn && isUntouched(found, known),
    value: 'unread',
    changedAt: new Date(found.updated_at),
  };
}

/** Whether nothing has written the secret since the last put. */
export const isUntouched = ({ updated_at }: FoundSecret, known: Remembered | undefined): boolean =>
  known !== undefined && known.writtenAt !== null && Date.parse(updated_at) <= Date.parse(known.writtenAt);
