import { hasCode, type PutRequest } from '@secrets/sync-worker';
import { badRequestCodes, conflictCodes } from '../api/refusals.ts';
import { deviationOf } from './deviation.ts';
import { commentOf, isOwn } from './ownership.ts';
import { mixesDevelopment } from './place-targets.ts';
import { reconcileVariable, valueBytes } from './reconcile-variable.ts';
import { parseRemembered, type Remembered, type RememberedRecord, targetsOf } from './remembered.ts';
import { environmentsOf, type Store, wantedSettings } from './store.ts';

/**
 * Reconciles the variable with the value and the destination's environments: one call for a new value of a known
 * variable, and none if nothing changed. Only a variable that is not known, or whose environments or size changed, is
 * looked at first.
 */
export async function putVariable(store: Store, request: PutRequest): Promise<Remembered> {
  try {
    return await put(store, request);
  } catch (error) {
    const mayBePolicy = hasCode(error, ...badRequestCodes) && mixesDevelopment(environmentsOf(store));
    if (!mayBePolicy || store.placement.separatesDevelopment) throw error;
    const separate = { ...store, placement: { separatesDevelopment: true } };
    const written = await reconcileVariable(separate, request);
    store.placement.separatesDevelopment = true;
    return written;
  }
}

async function put(store: Store, request: PutRequest): Promise<Remembered> {
  const known = parseRemembered(request);
  const isKnown = known !== undefined && !needsLook(store, request, known);
  if (isKnown && !request.valueChanged) return known;
  await store.project.require(store.signal);
  if (!isKnown) return reconcileVariable(store, request);
  return (await overwrite(store, request, known)) ?? reconcileVariable(store, request);
}

function needsLook(store: Store, request: PutRequest, known: Remembered): boolean {
  const { gitBranch, isSensitive } = wantedSettings(store);
  return (
    [...environmentsOf(store)].sort().join() !== targetsOf(known).sort().join() ||
    gitBranch !== known.gitBranch ||
    isSensitive !== known.isSensitive ||
    request.verify ||
    valueBytes(request) > known.bytes
  );
}

/**
 * Writes the value to the records that the last put left. Somebody may have renamed them, tied them to a branch or
 * taken environments from them since: the name and the branch are restored by the same call, so that the value never
 * appears under another name. A mark that somebody has removed is restored by another call. Returns undefined if the
 * response shows that this is not enough, or if a record no longer exists.
 */
async function overwrite(
  store: Store,
  request: PutRequest,
  known: Remembered,
): Promise<Remembered | undefined> {
  const { api, owner, signal } = store;
  const { externalName: name } = request;
  const wanted = wantedSettings(store);
  const records: RememberedRecord[] = [];
  for (const { id, target } of known.records) {
    const change = { key: name, value: request.value.reveal(), gitBranch: wanted.gitBranch || null };
    const written = await api.edit(id, change, signal).catch((error: unknown) => {
      if (hasCode(error, ...conflictCodes)) return undefined;
      throw error;
    });
    const isWanted = written !== undefined && deviationOf(written, { name, target, ...wanted }) === undefined;
    if (!isWanted || !isOwn(owner, written, known)) return undefined;
    const marked = written.comment === '' ? await mark(store, id) : written;
    if (marked === undefined) return undefined;
    records.push({ id, target, updatedAt: marked.updatedAt });
  }
  return { name, bytes: valueBytes(request), ...wanted, records };
}

/** Restores the mark of a record whose comment somebody has removed. */
const mark = ({ api, owner, signal }: Store, id: string) =>
  api.edit(id, { comment: commentOf(owner) }, signal);
