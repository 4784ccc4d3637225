import { Fault } from '@secrets/domain';
import type { RemoveRequest } from '@secrets/sync-worker';
import { withKnownRecords } from './known-records.ts';
import { ownRecords } from './ownership.ts';
import { release } from './reconcile-variable.ts';
import { parseRemembered } from './remembered.ts';
import type { Store } from './store.ts';

/**
 * Removes the destination's environments from its records, and the records of which nothing is left: also those that
 * somebody has renamed, tied to a branch or split off for one.
 */
export async function removeVariable(store: Store, request: RemoveRequest): Promise<void> {
  await store.project.find(store.signal);
  const known = parseRemembered(request);
  const { variables: listed, hidden } = await store.api.list(store.signal);
  const isMissing = ({ id }: { id: string }) => !listed.some((variable) => variable.id === id);
  const mayBeHidden = known === undefined ? request.putStartedAt !== null : known.records.some(isMissing);
  if (hidden > 0 && mayBeHidden)
    throw new Fault('forbidden', 'the token may not see the variables for production');
  const variables = await withKnownRecords(store, request, listed);
  const own = ownRecords(store.owner, variables, request.externalName, known);
  for (const variable of own) {
    const record = known?.records.find(({ id }) => id === variable.id);
    const isMoved = record !== undefined && !variable.target.some((one) => record.target.includes(one));
    // Of a record that was moved to other environments, nothing was added: all of it is the destination's.
    await release(store, variable, isMoved ? undefined : record?.target);
  }
}
