import { createHash } from 'node:crypto';
import { canonicalJson } from '@secrets/domain';
import type { PreparedRule } from '../prepare-rule.ts';
import type { RuleCounts } from './count-changes.ts';

/** A rule that associates more than so many secrets, or releases any association, has to be confirmed. */
const maxUnconfirmed = 1_000;

/** Whether a write that changes this much needs the fingerprint of its plan. */
export const needsConfirmation = ({ toAssociate, toRelease, isComplete }: RuleCounts): boolean =>
  toAssociate > maxUnconfirmed || toRelease > 0 || !isComplete;

/**
 * Identifies what a plan of a rule says: the rule, and how many secrets it matches and associations it releases. Only the first
 * two digits count, so a mount in which secrets are created meanwhile can be confirmed. How many of the matches are associated
 * already is not part of it: other rules change that all the time, and confirming the matches covers it.
 */
export function fingerprintOf(
  { destination, name, selection }: Pick<PreparedRule, 'destination' | 'name' | 'selection'>,
  { matched, toRelease, isComplete }: RuleCounts,
): string {
  const { mountId, path, exclude, metadataMatch, naming } = selection;
  const about = { mountId, path, exclude: [...exclude], metadataMatch: { ...metadataMatch } };
  const rule = { destination: destination.id, name, ...about, naming: { ...naming } };
  const numbers = [matched, toRelease].map(rounded);
  const text = canonicalJson({ rule, numbers, isComplete });
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** A number with all digits after the first two replaced by zeros. */
function rounded(count: number): number {
  const unit = 10 ** Math.max(0, String(count).length - 2);
  return Math.floor(count / unit) * unit;
}
