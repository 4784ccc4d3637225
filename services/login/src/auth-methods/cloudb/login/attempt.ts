import type { Attempt } from '../decision/assess.ts';
import type { PlaceRequest } from '../decision/named-place.ts';
import type { DirectoryClaims } from '../directory/claims.ts';
import type { ReadyTarget } from '../queries/login-target.ts';

/** What is decided about a login through a role that exists. */
export const attemptOf = (
  { role, config }: ReadyTarget,
  claims: DirectoryClaims,
  request: PlaceRequest,
): Attempt => ({
  role,
  requirePrincipalBinding: config.require_principal_binding === true, // absent if the configuration is older than the field
  claims,
  request,
  now: new Date(),
});
