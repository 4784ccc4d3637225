import { Fault, isRefusal } from '@secrets/domain';
import { hasCode, type PutRequest, requireWritable } from '@secrets/sync-worker';
import type { FoundSecret, PublicKey } from '../api/schema.ts';
import { type Access, requireStatus, type ScopeResponse } from '../api/secret-scope.ts';
import { isUntouched } from './inspect-secret.ts';
import { isCreatedAgain, parseRemembered, type Remembered, remember } from './remembered.ts';
import { sealFor } from './scope-key.ts';
import { findSecret, lookInPlace, type Store, timeOf, withScope } from './store.ts';

/**
 * Reconciles the secret with the value and with who may see it, in as few calls as possible: none if nothing changed, and
 * otherwise one to look whether a known secret is still the same one. Values cannot be read back; a secret that was edited
 * by someone else is written again.
 */
export async function putSecret(store: Store, request: PutRequest): Promise<Remembered> {
  const isUnchanged = !request.valueChanged && !request.verify;
  const unchanged = isUnchanged ? parseRemembered(store, request) : undefined;
  if (unchanged !== undefined && hasAccess(store, unchanged)) return unchanged;
  const look = await lookInPlace(store, request.externalName);
  const known = parseRemembered(store, request);
  if (known === undefined) return createOrTakeOver(store, request, look);
  const found = await look();
  const isAnother = found !== undefined && isCreatedAgain(found, known);
  if (isAnother && !request.overwrite) throw createdAgain(request.externalName);
  if (isAnother || found === undefined) return makeOwn(store, request, known);
  if (request.valueChanged) return write(store, request);
  return inspect(store, request, { known, found }); // an edit by someone else would be hidden by a change of who may see the secret
}

const createdAgain = (name: string): Fault =>
  new Fault(
    'conflict',
    `${JSON.stringify(name)} was deleted and created again by somebody else; set "overwrite" to take it over`,
  );

/**
 * Writes a known secret that is gone, or that is taken over from somebody else. It is recorded first that its creation may
 * be later than the last put: otherwise it would be foreign if the outcome was lost.
 */
async function makeOwn(store: Store, request: PutRequest, known: Remembered): Promise<Remembered> {
  await request.recordRemote({ ...known, writtenAt: null });
  try {
    return await write(store, request);
  } catch (error) {
    if (isRefusal(error)) await request.recordRemote(known);
    throw error;
  }
}

/** The key is fetched first: if that succeeds, a secret that is not found does not exist. */
async function createOrTakeOver(
  store: Store,
  request: PutRequest,
  look: () => Promise<FoundSecret | undefined>,
): Promise<Remembered> {
  const { externalName: name, overwrite } = request;
  await withScope(store, () => store.key.current(store.signal));
  const shown = await look();
  const found = shown !== undefined && store.removed.includes(name, shown.updated_at) ? undefined : shown;
  if (found === undefined) await withScope(store, () => store.count.requireRoom(store.signal));
  else requireWritable(store.owner, { name, tags: {}, isRemembered: isStarted(request) }, overwrite);
  await store.access?.wanted(store.signal); // a repository that does not exist is refused before anything is recorded
  await request.recordStart();
  try {
    return await write(store, request);
  } catch (error) {
    if (found === undefined && hasCode(error, 'ValidationFailed'))
      await store.count.requireRoomNow(store.signal);
    throw error;
  }
}

/** A start that was recorded is one of this name, unless a put has succeeded since. */
const isStarted = ({ remote, putStartedAt }: PutRequest): boolean => remote === null && putStartedAt !== null;

async function inspect(
  store: Store,
  request: PutRequest,
  { known, found }: { known: Remembered; found: FoundSecret },
): Promise<Remembered> {
  const { externalName: name } = request;
  if (!isUntouched(found, known)) return write(store, request);
  // If the last put has set another access, what was found is older.
  const differs = !hasAccess(store, known) || (await store.access?.differsFrom(name, found, store.signal));
  return differs
    ? changeAccess(store, request, known.access?.visibility ?? found.visibility)
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
): Promise<Remembered> {
  const changed = await store.access?.change(request.externalName, present, store.signal);
  if (changed === undefined) return write(store, request);
  return compared(store, request, timeOf(changed));
}

/**
 * Data from the provider that the driver keeps and sends with a value: the public key and, for a secret of an
 * organization, the repositories that see it.
 */
interface Kept {
  key: PublicKey;
  access: Access | undefined;
}

/** Writes the value, and once more if the provider has refused it and the key has changed since. */
async function write(store: Store, request: PutRequest): Promise<Remembered> {
  const response = await withScope(store, async () => {
    const kept = {
      key: await store.key.current(store.signal),
      access: await store.access?.wanted(store.signal),
    };
    const send = async ({ key, access }: Kept) =>
      store.scope.write(store.signal, request.externalName, {
        ...(await sealFor(key, request.value.reveal())),
        ...access,
      });
    try {
      return await send(kept);
    } catch (error) {
      const renewed = hasCode(error, 'ValidationFailed') ? await renew(store, kept) : undefined;
      if (renewed === undefined) throw error;
      return send(renewed);
    }
  });
  return written(store, request, response);
}

/**
 * Returns undefined if nothing has changed.
 * @throws {Fault} `rejected` if a selected repository is gone, or is another one
 */
async function renew(store: Store, refused: Kept): Promise<Kept | undefined> {
  store.access?.forgetIds();
  const replacement = await store.key.replacementFor(refused.key, store.signal);
  const access = await store.access?.wanted(store.signal);
  return replacement && { key: replacement, access };
}

async function written(store: Store, request: PutRequest, response: ScopeResponse): Promise<Remembered> {
  requireStatus('createOrUpdateSecret', response, 201, 204);
  if (response.status === 201) store.count.changeBy(1);
  return compared(store, request, timeOf(response));
}

/**
 * Compares who sees a secret of an organization with what was wanted, after a write: the response to it is empty, so the
 * secret is read. A read that is older than the write, throttled or unanswered says nothing: an attempt that failed for it
 * would write again, and could be throttled at the same call each time.
 * @throws {Fault} `rejected`, after it has recorded that the access is not known
 */
async function compared(store: Store, request: PutRequest, writtenAt: string | null): Promise<Remembered> {
  const { externalName: name } = request;
  const { access, signal } = store;
  const remembered = remember(store, name, writtenAt);
  if (access === undefined) return remembered;
  const found = await findSecret(store, name).catch(throttledOrAway);
  const isOlder = found === undefined || Date.parse(found.updated_at) < Date.parse(writtenAt ?? '');
  if (isOlder || !(await access.differsFrom(name, found, signal))) return remembered;
  access.forgetIds();
  await request.recordRemote({ ...remembered, access: null });
  throw access.notTaken(found);
}

function throttledOrAway(error: unknown): undefined {
  if (error instanceof Fault && ['throttled', 'unavailable'].includes(error.kind)) return undefined;
  throw error;
}
