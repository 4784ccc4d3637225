import type { LoginIdentity } from '../../../queries/tokens/login-tokens.ts';
import type { Attempt } from '../decision/assess.ts';
import type { PlaceRequest } from '../decision/named-place.ts';
import type { DirectoryClaims } from '../directory/claims.ts';
import type { ReadyTarget } from '../queries/login-target.ts';

/** Returns the input of the decision on a login through a role that exists. */
export const attemptOf = (
  { role, config }: ReadyTarget,
  claims: DirectoryClaims,
  request: PlaceRequest,
  now: Date,
): Attempt => ({
  role,
  requirePrincipalBinding: config.require_principal_binding === true, // absent if the configuration is older than the field
  claims,
  request,
  now,
});

/** The identity that a token proves at a mount. If there are too many groups, the token does not name them. */
export const identityOf = (
  mountId: string,
  { oid, groups, groupsOmitted, issuedAt }: DirectoryClaims,
): Omit<LoginIdentity, 'source'> => ({
  mountId,
  alias: oid,
  groups: groupsOmitted ? undefined : groups,
  issuedAt,
});
