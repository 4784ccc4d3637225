import type { DirectoryClaims } from './claims.ts';
import type { LoginSource } from './login-source.ts';
import { needsProvider, type RoleSettings } from './role-settings.ts';

type Principal = Pick<DirectoryClaims, 'oid' | 'groups' | 'groupsOmitted'>;
const anybody = '*';
const leewaySeconds = 60;

/**
 * Why a role does not let a verified principal in, without any of the role's values; undefined when the bounds that
 * the token alone can prove hold (docs/conventions.md#35-decision). Ids are compared without regard to case. When service
 * principals and groups are both bound, both must hold.
 */
export function whyRefused(role: RoleSettings, principal: Principal): string | undefined {
  const servicePrincipals = lowered(role.bound_service_principal_ids);
  const groups = lowered(role.bound_group_ids);
  if (!isSpecific(servicePrincipals) && !isSpecific(groups))
    return 'the role lets nobody in: it needs a specific bound_service_principal_ids or bound_group_ids';
  if (isSpecific(servicePrincipals) && !servicePrincipals.includes(principal.oid))
    return "the token's principal is not among the role's bound_service_principal_ids";
  if (isSpecific(groups)) return whyNotInGroup(groups, principal);
  return undefined;
}

/** Whether a token is too old for its role, however long the directory lets it live. */
export function whyTooOld(role: RoleSettings, issuedAt: number | undefined, now: Date): string | undefined {
  if (role.max_token_age === 0) return undefined;
  const age = now.getTime() / 1000 - (issuedAt ?? 0);
  return age > role.max_token_age + leewaySeconds
    ? "the token is older than the role's max_token_age"
    : undefined;
}

/** Why a token of a login is not renewed: its role is gone, or would no longer let the same claims in. */
export function whyNotRenewable(role: RoleSettings | undefined, source: LoginSource): string | undefined {
  if (role === undefined) return 'the role of this login no longer exists';
  if (needsProvider(role)) return 'the role now binds what only a new login can prove';
  return whyRefused(role, source);
}

/** Empty binds nothing; `*` would let the whole tenant in, so it counts only beside a bound that is specific. */
const isSpecific = (bound: readonly string[]): boolean => bound.length > 0 && !bound.includes(anybody);

function whyNotInGroup(bound: readonly string[], { groups, groupsOmitted }: Principal): string | undefined {
  if (groups.some((group) => bound.includes(group))) return undefined;
  if (groupsOmitted)
    return 'the token does not name its groups because there are too many of them, and the role has bound_group_ids';
  return "none of the token's groups is among the role's bound_group_ids";
}

const lowered = (ids: readonly string[]): string[] => ids.map((id) => id.toLowerCase());
