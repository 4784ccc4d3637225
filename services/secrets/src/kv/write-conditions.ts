import type { Caller } from '@secrets/caller';
import { invalid, type Problem, permissionDenied } from '@secrets/domain';
import type { WriteState } from '../queries/versions/insert-version.ts';

/** Whether the caller's policies permit creating and changing a secret at the path of the request. */
interface WriteGrants {
  mayCreate: boolean;
  mayUpdate: boolean;
}

export interface WriteConditions extends WriteGrants {
  /** The version that the writer expects to be current, 0 for none; null if it does not say. */
  cas: number | null;
}

export const writeGrants = ({ grants }: Caller): WriteGrants => ({
  mayCreate: grants.includes('create'),
  mayUpdate: grants.includes('update'),
});

/** Returns the problem of the first condition that a write does not meet; undefined if it meets all of them. */
export function unmetCondition(
  { currentVersion, casRequired }: WriteState,
  { cas, mayCreate, mayUpdate }: WriteConditions,
): Problem | undefined {
  const isGranted = currentVersion === 0 ? mayCreate : mayUpdate;
  if (!isGranted) return permissionDenied();
  if (cas === null)
    return casRequired ? invalid('check-and-set parameter required for this call') : undefined;
  if (cas === currentVersion) return undefined;
  return invalid('check-and-set parameter did not match the current version');
}
