import { hasCode, type PutRequest } from '@secrets/sync-worker';
import { badRequestCodes } from '../api/call-faults.ts';
import { mixesDevelopment } from './place-targets.ts';
import { reconcileVariable, valueBytes } from './reconcile-variable.ts';
import { parseRemembered, type Remembered, type RememberedRecord, targetsOf } from './remembered.ts';
import type { Store } from './store.ts';

/**
 * Reconciles the variable with the value and the destination's environments: one call for a new value of a known variable, and none if nothing
 * changed. Only a variable that is not known, or whose environments or size changed, is looked at first.
 */
export async function putVariable(
  store: Store,
  request: PutRequest,
  signal: AbortSignal,
): Promise<Remembered> {
  try {
    return await put(store, request, signal);
  } catch (error) {
    const mayBePolicy = hasCode(error, ...badRequestCodes) && mixesDevelopment(store.environments);
    if (!mayBePolicy || store.separatesDevelopment) throw error;
    const separate = { ...store, separatesDevelopment: true };
    const written = await reconcileVariable(separate, request, signal);
    store.separatesDevelopment = true;
    return written;
  }
}

async function put(store: Store, request: PutRequest, signal: AbortSignal): Promise<Remembered> {
  const known = parseRemembered(request);
  if (known === undefined || needsLook(store, request, known))
    return reconcileVariable(store, request, signal);
  if (!request.valueChanged) return known;
  return (await overwrite(store, request, known, signal)) ?? reconcileVariable(store, request, signal);
}

const needsLook = ({ environments }: Store, request: PutRequest, known: Remembered): boolean =>
  request.verify ||
  valueBytes(request) > known.bytes ||
  [...environments].sort().join() !== targetsOf(known).sort().join();

/** Returns undefined if one of the records no longer exists. */
async function overwrite(
  { api }: Store,
  request: PutRequest,
  known: Remembered,
  signal: AbortSignal,
): Promise<Remembered | undefined> {
  const records: RememberedRecord[] = [];
  for (const { id, target } of known.records) {
    const written = await api.edit(id, { value: request.value.reveal() }, signal);
    if (written === undefined) return undefined;
    records.push({ id, target, updatedAt: written.updatedAt });
  }
  return { name: request.externalName, bytes: valueBytes(request), records };
}
