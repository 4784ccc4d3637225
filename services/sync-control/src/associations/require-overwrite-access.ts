import { type Caller, maySudo } from '@secrets/caller';
import { Problem } from '@secrets/domain';
import type { DestinationRow } from '../queries/destinations/destinations.ts';

/**
 * Throws `forbidden` unless the caller may replace foreign external secrets. The destination's policy is the limit for those
 * who may only associate; `sudo` may exceed it.
 */
export function requireOverwriteAccess(
  caller: Caller,
  { settings: { conflict_policy: policy } }: Pick<DestinationRow, 'settings'>,
): void {
  if (policy === 'overwrite' || maySudo(caller)) return;
  throw new Problem(
    'forbidden',
    `overwrite: the destination's conflict_policy is ${policy}, so overwrite requires sudo`,
  );
}
