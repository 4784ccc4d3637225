import { addressRanges } from '@secrets/access';
import { type Check, check, reasonUnless } from './check.ts';
import type { RoleTokens } from './role-tokens.ts';

/** Checks the address of the caller. */
export function addressChecks(
  { token_bound_cidrs: cidrs }: Pick<RoleTokens, 'token_bound_cidrs'>,
  remoteAddress: string,
): Check[] {
  if (cidrs.length === 0) return [];
  return [
    check(
      "the caller's address is in token_bound_cidrs",
      'remote_address',
      reasonUnless(
        addressRanges(cidrs).includes(remoteAddress),
        "the caller's address is not in the role's token_bound_cidrs",
      ),
    ),
  ];
}
