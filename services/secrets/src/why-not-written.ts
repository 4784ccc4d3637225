import { invalid, type Problem, permissionDenied } from '@secrets/domain';
import type { WriteState } from './queries/write-state.ts';

export interface WantedWrite {
  /** The current version that the writer expects, 0 for none; null when it does not say. */
  cas: number | null;
  mayCreate: boolean;
  mayUpdate: boolean;
}

/** Why a version may not be written; undefined when nothing speaks against it. */
export function whyNotWritten(state: WriteState, wanted: WantedWrite): Problem | undefined {
  const granted = state.currentVersion === 0 ? wanted.mayCreate : wanted.mayUpdate;
  if (!granted) return permissionDenied();
  if (wanted.cas === null)
    return state.casRequired ? invalid('check-and-set parameter required for this call') : undefined;
  if (wanted.cas === state.currentVersion) return undefined;
  return invalid('check-and-set parameter did not match the current version');
}
