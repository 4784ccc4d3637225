import { Fault } from '@secrets/domain';
import { hasCode, type PutRequest } from '@secrets/sync-worker';
import { changedMeanwhile, claim, type Found, hasWantedLabels } from './labels.ts';
import { remember, withNotice } from './remember.ts';
import { parseRemembered, type Remembered } from './remembered.ts';
import { findSecret, type Store, wantedLabels } from './store.ts';
import { addVersion, writeValue } from './versions.ts';

/** Reconciles the secret with the value and with the destination's labels. Makes no call if nothing changed. */
export async function putSecret(store: Store, request: PutRequest, signal: AbortSignal): Promise<Remembered> {
  const known = parseRemembered(request);
  if (known === undefined) return createOrAdopt(store, request, signal);
  if (hasValue(request, known) && hasWantedLabels(store, known)) return withNotice(store, known);
  const found = await findSecret(store, request.externalName, signal);
  return found === undefined
    ? createOrAdopt(store, request, signal)
    : reconcile(store, request, { found, known }, signal);
}

/** Creates first, so that the provider decides whether the name is free. */
async function createOrAdopt(store: Store, request: PutRequest, signal: AbortSignal): Promise<Remembered> {
  try {
    return await create(store, request, signal);
  } catch (error) {
    if (!hasCode(error, 'ALREADY_EXISTS')) throw error;
    const found = await findSecret(store, request.externalName, signal);
    if (found === undefined) throw changedMeanwhile(request.externalName);
    return reconcile(store, request, { found, known: undefined }, signal);
  }
}

/** Whether the secret has the value since the last put, and is not to be compared. */
const hasValue = ({ valueChanged, verify }: PutRequest, { started }: Remembered): boolean =>
  !valueChanged && !verify && started === null;

/** If the process dies between the two calls, the next attempt finds the secret by its labels and adds the version. */
async function create(store: Store, request: PutRequest, signal: AbortSignal): Promise<Remembered> {
  const { api, settings } = store;
  const labels = wantedLabels(store);
  const content = { labels, locations: settings.replication_locations };
  const secret = await api.create(request.externalName, content, signal).catch((error: unknown) => {
    throw hasCode(error, 'NOT_FOUND') ? unknownProject(settings.project_id) : error;
  });
  const added = await addVersion(store, request, { secret, ours: [], after: 0 }, signal);
  return remember(store, request, secret, { ours: [added], started: null });
}

const unknownProject = (project: string): Fault =>
  new Fault('rejected', `CreateSecret: the project ${JSON.stringify(project)} was not found (NOT_FOUND)`);

/** Reconciles an existing secret with the request. What is remembered of an earlier secret of this name says nothing about this one. */
async function reconcile(
  store: Store,
  request: PutRequest,
  { found, known }: Found,
  signal: AbortSignal,
): Promise<Remembered> {
  const same = known?.createTime === found.createTime ? known : undefined;
  await claim(store, request, { found, known: same }, signal);
  const isUnchanged = same !== undefined && hasValue(request, same);
  const ours = isUnchanged ? same.ours : await writeValue(store, request, { found, known: same }, signal);
  return remember(store, request, found, { ours, started: null });
}
