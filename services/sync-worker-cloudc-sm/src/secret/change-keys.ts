import { isDeepStrictEqual } from 'node:util';
import { hasCode, type PutRequest } from '@secrets/sync-worker';
import type { Secret } from '../api/schema.ts';
import { changedMeanwhile, type RememberedSecret } from './labels.ts';
import { remember } from './remember.ts';
import { type Remembered, setKeysOf } from './remembered.ts';
import { type KeysByPlace, keysOf, locationsOf, storageWith, wantedKeys } from './storage.ts';
import type { Store } from './store.ts';

/**
 * Encrypts the secret with the keys of the destination. They apply only to versions that are added afterwards
 * (https://cloud.google.com/secret-manager/docs/reference/rest/v1/projects.secrets#Automatic), so it is recorded before that a version
 * must be added.
 * @returns the secret, and whether its newest version may be encrypted with other keys
 */
export async function changeKeys(
  store: Store,
  request: PutRequest,
  { found, known }: RememberedSecret,
): Promise<{ secret: Secret; keysChanged: boolean }> {
  const keys = keysToSet(store, { found, known });
  if (keys === undefined) return { secret: found, keysChanged: known?.keysChanged ?? false };
  const { ours = [], current = 0, started = null } = known ?? {};
  await request.recordRemote(remember(store, request, found, { ours, current, started, keysChanged: true }));
  return { secret: await update(store, request.externalName, { found, keys }), keysChanged: true };
}

/** An update names no etag: it changes nothing else, and applies to whatever the keys are by now. */
async function update(
  { api, settings, signal }: Store,
  id: string,
  { found, keys }: { found: Secret; keys: KeysByPlace },
): Promise<Secret> {
  try {
    const secret = await api.updateKeys(id, storageWith(settings, keys), signal);
    if (secret.createTime !== found.createTime || !isDeepStrictEqual(keysOf(secret), keys))
      throw changedMeanwhile(id);
    return secret;
  } catch (error) {
    throw hasCode(error, 'NOT_FOUND') ? changedMeanwhile(id) : error;
  }
}

/**
 * The keys that the secret does not have yet; undefined if there are none. Keys of somebody else stay where the destination sets
 * none, and a secret in other locations keeps its keys, too. If the last put has left others, what was found is older.
 */
function keysToSet({ settings }: Store, { found, known }: RememberedSecret): KeysByPlace | undefined {
  if (!isDeepStrictEqual(locationsOf(found), settings.replication_locations.toSorted())) return undefined;
  const wanted = wantedKeys(settings);
  const present = keysOf(found);
  const isKept = Object.keys(wanted).length === 0 && !isOurs(present, known);
  const isCurrent = isDeepStrictEqual(present, wanted) && isDeepStrictEqual(known?.keys ?? wanted, wanted);
  return isKept || isCurrent ? undefined : wanted;
}

const isOurs = (present: KeysByPlace, known: Remembered | undefined): boolean =>
  Object.keys(present).length === 0 || isDeepStrictEqual(present, known && setKeysOf(known));
