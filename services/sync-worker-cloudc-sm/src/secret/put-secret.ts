import { isDeepStrictEqual } from 'node:util';
import { Fault } from '@secrets/domain';
import { hasCode, type PutRequest } from '@secrets/sync-worker';
import type { Secret } from '../api/schema.ts';
import { changeKeys } from './change-keys.ts';
import {
  changedMeanwhile,
  claimSecret,
  hasWantedLabels,
  outdatedRead,
  type RememberedSecret,
} from './labels.ts';
import { remember, withNotice } from './remember.ts';
import { parseRemembered, type Remembered, setKeysOf } from './remembered.ts';
import { keysOf, wantedKeys, wantedStorage } from './storage.ts';
import { findSecret, isOutdated, requireProject, type Store, wantedLabels } from './store.ts';
import { addVersion, writeValue } from './versions.ts';

/** Reconciles the secret with the value and with the destination's labels. Makes no call if nothing changed. */
export async function putSecret(store: Store, request: PutRequest): Promise<Remembered> {
  const known = parseRemembered(request);
  if (known === undefined) return createOrAdopt(store, request, known);
  if (hasValue(request, known) && isSettled(store, known)) return withNotice(store, known);
  const found = await findSecret(store, request.externalName);
  return found === undefined
    ? createOrAdopt(store, request, known)
    : reconcile(store, request, { found, known });
}

/** Creates first, so that the provider decides whether the name is free. */
async function createOrAdopt(
  store: Store,
  request: PutRequest,
  known: Remembered | undefined,
): Promise<Remembered> {
  try {
    return await create(store, request);
  } catch (error) {
    if (!hasCode(error, 'ALREADY_EXISTS')) throw error;
    const found = await findSecret(store, request.externalName);
    if (found === undefined) throw changedMeanwhile(request.externalName);
    return reconcile(store, request, { found, known });
  }
}

/** Whether the secret has the value since the last put, and is not to be compared. */
const hasValue = ({ valueChanged, verify }: PutRequest, { started }: Remembered): boolean =>
  !valueChanged && !verify && started === null;

/** Whether the last put has set the labels and keys that the destination has now. */
const isSettled = (store: Store, known: Remembered): boolean =>
  hasWantedLabels(store, known) &&
  !known.keysChanged &&
  isDeepStrictEqual(setKeysOf(known), wantedKeys(store.settings));

/** If the process dies between the two calls, the next attempt finds the secret by its labels and adds the version. */
async function create(store: Store, request: PutRequest): Promise<Remembered> {
  const { api, settings } = store;
  const labels = wantedLabels(store);
  const content = { labels, storage: wantedStorage(settings) };
  const secret = await api.create(request.externalName, content, store.signal);
  await requireProject(store, secret); // the value is not written yet
  await requireKeys(store, request.externalName, secret);
  const added = await addVersion(store, request, { secret, ours: [], after: 0, keysChanged: false });
  const versions = { ours: [added], current: added.number, started: null, keysChanged: false };
  return remember(store, request, secret, versions);
}

/** Deletes a new secret that the provider does not encrypt as requested, before it gets the value. */
async function requireKeys({ api, settings, signal }: Store, id: string, created: Secret): Promise<void> {
  if (isDeepStrictEqual(keysOf(created), wantedKeys(settings))) return;
  await api.delete(id, created.etag, signal);
  throw new Fault(
    'rejected',
    'CreateSecret: the secret was created without the encryption keys of the destination',
    {
      mayPass: true,
    },
  );
}

/**
 * Reconciles an existing secret with the request. What is remembered of an earlier secret of this name says nothing
 * about this one.
 */
async function reconcile(
  store: Store,
  request: PutRequest,
  { found, known }: RememberedSecret,
): Promise<Remembered> {
  if (isOutdated(found, known)) throw outdatedRead(request.externalName);
  const same = known?.createTime === found.createTime ? known : undefined;
  const claimed = await claimSecret(store, request, { found, known: same });
  const { secret, keysChanged } = await changeKeys(store, request, { found: claimed, known: same });
  const versions = await writeValue(store, request, { found: secret, known: same, keysChanged });
  return remember(store, request, secret, { ...versions, started: null, keysChanged: false });
}
