import { isDeepStrictEqual } from 'node:util';
import { Fault } from '@secrets/domain';
import { hasCode, type PutRequest } from '@secrets/sync-worker';
import type { Secret } from '../api/schema.ts';
import { changedMeanwhile, claim, type Found, hasWantedLabels } from './labels.ts';
import { parseRemembered, type Remembered } from './remembered.ts';
import { findSecret, type Store, wantedLabels } from './store.ts';
import { addVersion, type Versions, writeValue } from './versions.ts';

/** Reconciles the secret with the value and with the destination's labels. Makes no call if nothing changed. */
export async function putSecret(store: Store, request: PutRequest, signal: AbortSignal): Promise<Remembered> {
  const known = parseRemembered(request);
  if (known === undefined) return createOrAdopt(store, request, signal);
  if (!request.valueChanged && !request.verify && hasWantedLabels(store, known))
    return withNotice(store, known);
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

/** If the process dies between the two calls, the next attempt finds the secret by its labels and adds the version. */
async function create(store: Store, request: PutRequest, signal: AbortSignal): Promise<Remembered> {
  const { api, settings } = store;
  const labels = wantedLabels(store);
  const content = { labels, locations: settings.replication_locations };
  const secret = await api.create(request.externalName, content, signal).catch((error: unknown) => {
    throw hasCode(error, 'NOT_FOUND') ? unknownProject(settings.project_id) : error;
  });
  const { number, etag } = await addVersion(store, request, signal);
  return remember(store, request, secret, { version: number, versionEtag: etag, oldest: number });
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
  const isUnchanged = same !== undefined && !request.valueChanged && !request.verify;
  const versions = isUnchanged ? same : await writeValue(store, request, same, signal);
  return remember(store, request, found, versions);
}

function remember(
  store: Store,
  { externalName: name }: PutRequest,
  { createTime, replication }: Secret,
  { version, versionEtag, oldest }: Versions,
): Remembered {
  const replicas = replication?.userManaged?.replicas ?? [];
  const locations = replicas.map(({ location }) => location).sort();
  return withNotice(store, {
    name,
    createTime,
    labels: wantedLabels(store),
    version,
    versionEtag,
    oldest,
    locations,
  });
}

/** The replication of an existing secret cannot be changed, so its owner learns that it differs from the destination's. */
function withNotice({ settings }: Store, remembered: Omit<Remembered, 'notice'>): Remembered {
  const wanted = settings.replication_locations.toSorted();
  return { ...remembered, notice: isDeepStrictEqual(wanted, remembered.locations) ? null : otherLocations };
}

const otherLocations =
  'the secret is synced, but keeps the locations that it was created with: replication_locations applies to new secrets';
