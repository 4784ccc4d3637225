import { areRangesWithin } from '@secrets/access';
import type { Caller } from '@secrets/caller';
import { invalid } from '@secrets/domain';
import { maySudo } from '../require-grant.ts';

/**
 * The addresses from which a token that the caller makes may be used: those asked for, else the caller's own.
 * Without `sudo`, only within the caller's own: a token that is bound could otherwise make itself one that is not.
 */
export function childCidrs(
  caller: Caller,
  parentCidrs: readonly string[],
  requested: readonly string[] = [],
): readonly string[] {
  if (parentCidrs.length === 0) return requested;
  if (requested.length === 0) return parentCidrs;
  if (!areRangesWithin(requested, parentCidrs) && !maySudo(caller))
    throw invalid('bound_cidrs must lie within those of the token that asks');
  return requested;
}
