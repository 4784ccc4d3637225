import { Fault } from '@secrets/domain';
import type { RemoveRequest } from '@secrets/sync-worker';
import { isOwn } from './ownership.ts';
import { recordsOf, release } from './reconcile-variable.ts';
import { parseRemembered, type RememberedRecord } from './remembered.ts';
import type { Store } from './store.ts';

/** Removes the destination's environments from its records, and the records of which nothing is left. */
export async function removeVariable(
  store: Store,
  request: RemoveRequest,
  signal: AbortSignal,
): Promise<void> {
  const known = parseRemembered(request);
  const { variables, hidden } = await store.api.list(signal);
  const own = recordsOf(variables, request.externalName).filter((variable) =>
    isOwn(store.owner, variable, known),
  );
  const isMissing = ({ id }: { id: string }) => !variables.some((variable) => variable.id === id);
  const missing = known?.records.filter(isMissing) ?? [];
  const mayBeHidden = known === undefined ? request.putStartedAt !== null : missing.length > 0;
  if (hidden > 0 && mayBeHidden)
    throw new Fault('forbidden', 'the token may not see the variables for production');
  for (const variable of own) {
    const record = known?.records.find(({ id }) => id === variable.id);
    await release(store, variable, record?.target, signal);
  }
  for (const record of missing) await releaseUnlisted(store, record, signal);
}

/** Lists lag behind, so a record that was just created may not be listed yet, and somebody may have added environments to it since. */
async function releaseUnlisted(
  store: Store,
  { id, target }: RememberedRecord,
  signal: AbortSignal,
): Promise<void> {
  const variable = await store.api.find(id, signal);
  if (variable === undefined) await store.api.remove(id, signal);
  else await release(store, variable, target, signal);
}
