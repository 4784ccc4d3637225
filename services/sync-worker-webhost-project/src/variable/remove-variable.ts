import { Fault } from '@secrets/domain';
import type { RemoveRequest } from '@secrets/sync-worker';
import { isOwn } from './ownership.ts';
import { recordsOf, release } from './reconcile-variable.ts';
import { parseRemembered, type Remembered } from './remembered.ts';
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
  if (hidden > 0 && mayBeHidden(request, known, isMissing))
    throw new Fault('forbidden', 'the token may not see the variables for production');
  for (const variable of own) {
    const record = known?.records.find(({ id }) => id === variable.id);
    await release(store, variable, record?.target, signal);
  }
}

/** Whether a record of this variable may be among those that the token may not see. */
const mayBeHidden = (
  { putStartedAt }: RemoveRequest,
  known: Remembered | undefined,
  isMissing: (record: { id: string }) => boolean,
): boolean => (known === undefined ? putStartedAt !== null : known.records.some(isMissing));
