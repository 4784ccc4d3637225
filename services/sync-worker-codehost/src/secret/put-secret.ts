import { isDeepStrictEqual } from 'node:util';
import { hasCode, type PutRequest, requireWritable } from '@secrets/sync-worker';
import type { PublicKey } from '../api/schema.ts';
import { type Access, requireStatus, type ScopeResponse } from '../api/secret-scope.ts';
import { parseRemembered, type Remembered, remember } from './remembered.ts';
import { sealFor } from './scope-key.ts';
import { findSecret, type Store, timeOf, withScope } from './store.ts';

/**
 * Reconciles the secret with the value and with who may see it, in as few calls as possible: one for a new value of a known secret, and none
 * if nothing changed. Values cannot be read back; a secret that was edited by someone else is written again.
 */
export async function putSecret(store: Store, request: PutRequest, signal: AbortSignal): Promise<Remembered> {
  const known = parseRemembered(request);
  if (known === undefined) return createOrTakeOver(store, request, signal);
  if (request.valueChanged) return write(store, request, signal);
  if (!request.verify && hasAccess(store, known)) return known;
  return inspect(store, request, known, signal); // an edit by someone else would be hidden by a change of who may see the secret
}

/** The key is fetched first: if that succeeds, a secret that is not found does not exist. */
async function createOrTakeOver(store: Store, request: PutRequest, signal: AbortSignal): Promise<Remembered> {
  const { externalName: name, overwrite } = request;
  await withScope(store, () => store.key.current(signal));
  const found = await findSecret(store, name, signal);
  if (found === undefined) await withScope(store, () => store.count.requireRoom(signal));
  else requireWritable(store.owner, { name, tags: {}, isRemembered: isStarted(request) }, overwrite);
  await store.access?.wanted(signal); // a repository that does not exist is refused before anything is recorded
  await request.recordStart();
  return write(store, request, signal);
}

/** A start that was recorded is one of this name, unless a put has succeeded since. */
const isStarted = ({ remote, putStartedAt }: PutRequest): boolean => remote === null && putStartedAt !== null;

async function inspect(
  store: Store,
  request: PutRequest,
  known: Remembered,
  signal: AbortSignal,
): Promise<Remembered> {
  const { externalName: name } = request;
  const found = await findSecret(store, name, signal);
  const isUntouched =
    found !== undefined &&
    known.writtenAt !== null &&
    Date.parse(found.updated_at) <= Date.parse(known.writtenAt);
  if (!isUntouched) return write(store, request, signal);
  const differs = (await store.access?.differsFrom(name, found, signal)) ?? false;
  return differs
    ? changeAccess(store, request, found.visibility, signal)
    : remember(store, name, known.writtenAt);
}

/** Whether the secret has been visible to the right repositories since the last put. */
function hasAccess({ access }: Store, known: Remembered): boolean {
  if (access === undefined) return true;
  const { visibility, repositories } = access.settings;
  const names = (list: readonly string[]) => JSON.stringify([...list].sort());
  return known.access?.visibility === visibility && names(known.access.repositories) === names(repositories);
}

async function changeAccess(
  store: Store,
  request: PutRequest,
  present: string | undefined,
  signal: AbortSignal,
): Promise<Remembered> {
  const changed = await store.access?.change(request.externalName, present, signal);
  if (changed === undefined) return write(store, request, signal);
  return remember(store, request.externalName, timeOf(changed));
}

/** What the driver keeps of the provider and sends with a value: the key, and for a secret of an organization who sees it. */
interface Kept {
  key: PublicKey;
  access: Access | undefined;
}

/** Writes the value, and once more if the provider has refused it and the key or the IDs of repositories have changed since. */
async function write(store: Store, request: PutRequest, signal: AbortSignal): Promise<Remembered> {
  const response = await withScope(store, async () => {
    const kept = { key: await store.key.current(signal), access: await store.access?.wanted(signal) };
    const send = async ({ key, access }: Kept) =>
      store.scope.write(signal, request.externalName, {
        ...(await sealFor(key, request.value.reveal())),
        ...access,
      });
    try {
      return await send(kept);
    } catch (error) {
      const renewed = hasCode(error, 'ValidationFailed') ? await renew(store, kept, signal) : undefined;
      if (renewed === undefined) throw error;
      return send(renewed);
    }
  });
  return written(store, request, response);
}

/** Returns undefined if nothing has changed. */
async function renew(store: Store, refused: Kept, signal: AbortSignal): Promise<Kept | undefined> {
  store.access?.forgetIds();
  const replacement = await store.key.replacementFor(refused.key, signal);
  const access = await store.access?.wanted(signal);
  if (replacement === undefined && isDeepStrictEqual(access, refused.access)) return undefined;
  return { key: replacement ?? refused.key, access };
}

function written(store: Store, request: PutRequest, response: ScopeResponse): Remembered {
  requireStatus('createOrUpdateSecret', response, 201, 204);
  if (response.status === 201) store.count.changeBy(1);
  return remember(store, request.externalName, timeOf(response));
}
