import {
  type AskedSecret,
  type FaultKind,
  type ReadFailure,
  type StoreState,
  unknownState,
} from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import { findInspectable } from '@secrets/sync-entries';
import type { InspectRequest, Look } from '../driver/look.ts';
import { valueHash } from '../entry/values/value-hash.ts';
import type { WorkerContext } from '../entry/worker-context.ts';
import { ofDestination } from './handle-look.ts';
import { compareToImport } from './import/compare-to-import.ts';
import type { ImportWriter } from './import/import-writer.ts';
import { isPushedValue } from './is-pushed-value.ts';
import { keyOf, stateInStore } from './state-in-store.ts';

interface LookOptions {
  inspect: (request: InspectRequest) => Promise<Look>;
  /** Reports why a look has failed. */
  failed: (error: unknown) => Promise<ReadFailure>;
}

type Looking = Pick<WorkerContext, 'db' | 'keyRing'> & { imports: ImportWriter };

/**
 * Looks at external secrets that a set would write or that would be imported, one after the other, and writes the values whose
 * write is permitted. After a failure of the whole destination, the others are unknown for the same reason.
 */
export async function lookBeforeWriting(
  worker: Looking,
  asked: readonly AskedSecret[],
  { inspect, failed }: LookOptions,
): Promise<StoreState[]> {
  let stopped: StoreState | undefined;
  const states: StoreState[] = [];
  for (const secret of asked) {
    const state = stopped ?? (await lookAt(worker, secret, inspect).catch(failed));
    if ('state' in state) states.push(state);
    else {
      const unknown = {
        ...unknownState(state.message),
        ...(isTemporary(state) ? { isTemporary: true } : {}),
      };
      states.push(unknown);
      if (state.fault !== null && ofDestination.has(state.fault)) stopped = unknown;
    }
  }
  return states;
}

const lasting: ReadonlySet<FaultKind> = new Set(['forbidden', 'rejected', 'too_large', 'full', 'conflict']);

/** Whether a later look may succeed without a change by somebody, or the whole destination has failed. */
const isTemporary = ({ fault }: ReadFailure): boolean => fault === null || !lasting.has(fault);

async function lookAt(
  { db, keyRing, imports }: Looking,
  { name, hash, entryId, importedAs, write }: AskedSecret,
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
  if (importedAs !== undefined) {
    const found = await compareToImport({ importedAs, isSame }, (isSameValue) =>
      inspect({ ...request, isSameValue }),
    );
    return write === undefined ? found.state : written(imports, write, found);
  }
  const look = await inspect({ ...request, isSameValue: isSame });
  return stateInStore(look, { hash, entry });
}

async function written(
  imports: ImportWriter,
  signed: NonNullable<AskedSecret['write']>,
  { state, text }: Awaited<ReturnType<typeof compareToImport>>,
): Promise<StoreState> {
  if (text === undefined || state.state !== 'different') return state;
  await imports.write(signed, text);
  return { ...state, isWritten: true };
}

/** The ID of an entry that does not exist. */
const noEntry = '00000000-0000-0000-0000-000000000000';
