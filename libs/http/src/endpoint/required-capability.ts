import { type Caller, requireCapability } from '@secrets/caller';
import type { Endpoint } from './endpoint.ts';

/**
 * Requires what an endpoint `needs` from the caller. The gateway has checked the capability of the method, but for POST
 * it accepts either `create` or `update`, because only the service knows what exists. Endpoints below a wildcard, whose
 * own router finds them, must be checked by that router.
 * @throws `permissionDenied()`
 */
export function requireNeededCapability(
  { method, needs = 'update', from }: Pick<Endpoint, 'method' | 'needs' | 'from'>,
  caller: Caller,
): void {
  if (method === 'post' && needs === 'update' && from === undefined) requireCapability(caller, 'update');
}
