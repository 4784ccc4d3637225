import type { DirectoryClaims } from '../directory/claims.ts';
import { needsProvider, type RoleSettings } from './role-settings.ts';

type Principal = Pick<DirectoryClaims, 'oid' | 'groups' | 'groupsOmitted'>;
const anybody = '*';
const leewaySeconds = 60;

/**
 * Why a role does not admit a verified principal, without any of the role's values; undefined if the bounds that the
 * directory token alone can prove are met (docs/conventions.md#35-decision). IDs are compared without regard to case. If
 * the role binds both service principals and groups, both must match.
 */
export function denialReason(role: RoleSettings, principal: Principal): string | undefined {
  const servicePrincipals = lowerCase(role.bound_service_principal_ids);
  const groups = lowerCase(role.bound_group_ids);
  if (!bindsPrincipals(role))
    return 'the role matches no principal: it needs a specific bound_service_principal_ids or bound_group_ids';
  if (isSpecific(servicePrincipals) && !servicePrincipals.includes(principal.oid))
    return "the token's principal is not among the role's bound_service_principal_ids";
  if (isSpecific(groups)) return groupDenialReason(groups, principal);
  return undefined;
}

/** Whether a role names a service principal or group, without which it matches no principal. */
export const bindsPrincipals = (role: RoleSettings): boolean =>
  isSpecific(role.bound_service_principal_ids) || isSpecific(role.bound_group_ids);

/**
 * Why a role does not accept a directory token of this age; undefined if it does.
 * @param issuedAt in seconds since 1970; a token without it is too old
 */
export function ageDenialReason(
  role: RoleSettings,
  issuedAt: number | undefined,
  now: Date,
): string | undefined {
  if (role.max_token_age === 0) return undefined;
  const age = now.getTime() / 1000 - (issuedAt ?? 0);
  return age > role.max_token_age + leewaySeconds
    ? "the token is older than the role's max_token_age"
    : undefined;
}

/** Why a token is not renewed: the role was deleted, or no longer admits the claims of the login. Undefined if it is. */
export function renewalDenialReason(
  role: RoleSettings | undefined,
  principal: Principal,
): string | undefined {
  if (role === undefined) return 'the role of this login no longer exists';
  if (needsProvider(role)) return 'the role now binds what only a new login can prove';
  return denialReason(role, principal);
}

/** An empty bound matches nobody. `*` would admit the whole tenant, so a bound that contains it counts as empty. */
const isSpecific = (bound: readonly string[]): boolean => bound.length > 0 && !bound.includes(anybody);

function groupDenialReason(
  bound: readonly string[],
  { groups, groupsOmitted }: Principal,
): string | undefined {
  if (groups.some((group) => bound.includes(group))) return undefined;
  if (groupsOmitted)
    return 'the token omits its groups because there are too many of them, and the role has bound_group_ids';
  return "none of the token's groups is among the role's bound_group_ids";
}

const lowerCase = (ids: readonly string[]): string[] => ids.map((id) => id.toLowerCase());
