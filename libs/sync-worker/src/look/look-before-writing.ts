import { type AskedSecret, type ReadFailure, type StoreState, unknownState } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import { findInspectable } from '@secrets/sync-entries';
import type { InspectRequest, Look } from '../driver/look.ts';
import { valueHash } from '../entry/values/value-hash.ts';
import type { WorkerContext } from '../entry/worker-context.ts';
import { ofDestination } from './handle-look.ts';
import { compareToImport } from './import/compare-to-import.ts';
import { isPushedValue } from './is-pushed-value.ts';
import { keyOf, stateInStore } from './state-in-store.ts';

interface LookOptions {
  inspect: (request: InspectRequest) => Promise<Look>;
  /** Reports why a look has failed. */
  failed: (error: unknown) => Promise<ReadFailure>;
}

/**
 * Looks at external secrets that a set would write or that would be imported, one after the other. After a failure of the whole
 * destination, the others are unknown for the same reason.
 */
export async function lookBeforeWriting(
  worker: Pick<WorkerContext, 'db' | 'keyRing'>,
  asked: readonly AskedSecret[],
  { inspect, failed }: LookOptions,
): Promise<StoreState[]> {
  let stopped: StoreState | undefined;
  const states: StoreState[] = [];
  for (const secret of asked) {
    const state = stopped ?? (await lookAt(worker, secret, inspect).catch(failed));
    if ('state' in state) states.push(state);
    else {
      states.push(unknownState(state.message));
      if (state.fault !== null && ofDestination.has(state.fault)) stopped = unknownState(state.message);
    }
  }
  return states;
}

async function lookAt(
  { db, keyRing }: Pick<WorkerContext, 'db' | 'keyRing'>,
  { name, hash, entryId, importedAs }: AskedSecret,
  inspect: LookOptions['inspect'],
): Promise<StoreState> {
  if ((importedAs === undefined || hash !== '') && keyRing.find(keyOf(hash)) === undefined)
    return unknownState('the worker does not have the seal key of the secret yet');
  const entry = entryId === null ? undefined : await findInspectable(db, entryId);
  if (entryId !== null && entry === undefined)
    return unknownState('the external secret is not synced at the moment');
  const isSame = (text: Sealed<string>) => hash !== '' && isPushedValue(text, hash, valueHash(keyRing));
  const request = {
    entryId: entryId ?? noEntry,
    externalName: name,
    remote: entry?.remote ?? null,
    putStartedAt: entry?.putStartedAt ?? null,
  };
  if (importedAs !== undefined)
    return compareToImport({ importedAs, isSame }, (isSameValue) => inspect({ ...request, isSameValue }));
  const look = await inspect({ ...request, isSameValue: isSame });
  return stateInStore(look, { hash, entry });
}

/** The ID of an entry that does not exist. */
const noEntry = '00000000-0000-0000-0000-000000000000';
