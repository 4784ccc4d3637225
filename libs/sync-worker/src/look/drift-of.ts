import type { Drift, Evidence } from '@secrets/domain';
import type { Look } from '../driver/look.ts';

/** Conclusion from a look that proves something. */
export interface Conclusion {
  drift: Drift;
  evidence: Evidence | null;
}

/**
 * Returns the drift that a look shows; undefined if it proves nothing, because what was read may be older than the last put.
 * @param isSettled whether the last put was so long ago that reads show it. Before, only its own mark proves something.
 */
export function driftOf(look: Look, isSettled: boolean): Conclusion | undefined {
  if (!look.exists) return isSettled ? { drift: 'missing', evidence: null } : undefined;
  const evidence = look.value === 'unread' ? 'mark' : 'value';
  if (look.belongs === 'own' && look.isUntouched) return { drift: 'none', evidence };
  if (!isSettled) return undefined;
  if (look.belongs !== 'own') return { drift: 'foreign', evidence: 'mark' };
  return { drift: look.value === 'same' ? 'none' : 'changed', evidence };
}
