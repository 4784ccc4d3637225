import { type StoreState, unknownState } from '@secrets/domain';
import type { InspectedEntry } from '@secrets/sync-entries';
import type { Look } from '../driver/look.ts';
import { unsettled } from './handle-look.ts';

interface Compared {
  /** The keyed hash of the value that the external secret would get. */
  hash: string;
  /** The entry that has the name; undefined if there is none. */
  entry: Pick<InspectedEntry, 'isSettled' | 'pushedHash'> | undefined;
}

/**
 * Returns what a look shows of an external secret that would be written. Whether the value is equal is only said of what
 * belongs to the destination.
 */
export function stateInStore(look: Look, { hash, entry }: Compared): StoreState {
  const isUntouched = look.exists && look.belongs === 'own' && look.isUntouched;
  if (entry?.isSettled === false && !isUntouched) return unknownState(unsettled);
  if (!look.exists) return known('absent');
  if (look.belongs !== 'own') return known(look.belongs === 'other' ? 'another_destination' : 'foreign');
  if (look.value !== 'unread') return known(look.value === 'same' ? 'equal' : 'different');
  if (!isUntouched || entry === undefined) return unknownState('the store does not return the value');
  return stateAsPushed(entry.pushedHash, hash);
}

const known = (state: StoreState['state']): StoreState => ({ state, reason: null });

/** Without a write since the last push, the value is the one of that push. */
function stateAsPushed(pushed: string, hash: string): StoreState {
  if (pushed === hash) return known('equal');
  if (keyOf(pushed) === keyOf(hash)) return known('different');
  return unknownState('the seal key is not the one of the last push, so hashes cannot be compared');
}

/** The ID of the key of a keyed hash. */
export const keyOf = (hash: string): string => hash.slice(0, hash.indexOf(':'));
