import { Fault } from '@secrets/domain';
import type { ReleaseRequest, RemoveRequest } from '@secrets/sync-worker';
import type { Variable } from '../api/schema.ts';
import { withKnownRecords } from './known-records.ts';
import { isMarked, ownRecords, withoutMark } from './ownership.ts';
import { release } from './reconcile-variable.ts';
import { parseRemembered } from './remembered.ts';
import type { Store } from './store.ts';

/**
 * Removes the destination's environments from its records, and the records of which nothing is left: also those that
 * somebody has renamed, tied to a branch or split off for one.
 */
export async function removeVariable(store: Store, request: RemoveRequest): Promise<void> {
  const known = parseRemembered(request);
  for (const variable of await findOwn(store, request)) {
    const record = known?.records.find(({ id }) => id === variable.id);
    const isMoved = record !== undefined && !variable.target.some((one) => record.target.includes(one));
    // Of a record that was moved to other environments, nothing was added: all of it is the destination's.
    await release(store, variable, isMoved ? undefined : record?.target);
  }
}

/** Removes the mark from the comments of the destination's records. */
export async function releaseVariable(store: Store, request: ReleaseRequest): Promise<void> {
  const marked = (await findOwn(store, request)).filter((variable) => isMarked(store.owner, variable));
  for (const { id, comment } of marked)
    await store.api.edit(id, { comment: withoutMark(comment) }, store.signal);
}

/** Returns the destination's records. Throws `forbidden` if the token may not see some that may be its own. */
async function findOwn(store: Store, request: RemoveRequest): Promise<Variable[]> {
  await store.project.find(store.signal);
  const known = parseRemembered(request);
  const { variables: listed, hidden } = await store.api.list(store.signal);
  const isMissing = ({ id }: { id: string }) => !listed.some((variable) => variable.id === id);
  const mayBeHidden = known === undefined ? request.putStartedAt !== null : known.records.some(isMissing);
  if (hidden > 0 && mayBeHidden)
    throw new Fault('forbidden', 'the token may not see the variables for production');
  const variables = await withKnownRecords(store, request, listed);
  return ownRecords(store.owner, variables, request.externalName, known);
}
