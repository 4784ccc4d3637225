import { type Check, check, reasonUnless } from '../../roles/check.ts';
import type { DirectoryClaims } from '../directory/claims.ts';
import { includesName, namesAmong } from '../resource-names/same-name.ts';
import {
  anyOf,
  bounds,
  claimFields,
  namedBy,
  principalFields,
  sufficientFields,
} from '../roles/bound-fields.ts';
import type { RoleSettings } from '../roles/role-settings.ts';
import { admitsNoLogin, bindsPrincipals, type RoleBounds, specific } from './role-bounds.ts';

/** The claims that prove a principal. */
export interface Principal extends Pick<DirectoryClaims, 'oid' | 'groups' | 'groupsOmitted'> {
  /** Absent for a login from before there was any. */
  bound?: DirectoryClaims['bound'] | undefined;
}

const leewaySeconds = 60;

/**
 * Checks what the directory's token alone can prove (docs/conventions/cloudb.md#decision). If a role has several bounds on it,
 * such as service principals and groups, all must match.
 */
export function principalChecks(
  role: RoleBounds,
  principal: Principal,
  { requirePrincipalBinding }: { requirePrincipalBinding: boolean },
): Check[] {
  const { oid } = principal;
  const principals = specific(role.bound_service_principal_ids);
  const groups = specific(role.bound_group_ids);
  const checks = [boundCheck(role)];
  if (requirePrincipalBinding) checks.push(bindingCheck(role));
  if (principals.length > 0)
    checks.push(
      check(
        'the principal is one of bound_service_principal_ids',
        'oid',
        reasonUnless(
          includesName(principals, oid),
          "the token's principal is not among the role's bound_service_principal_ids",
        ),
      ),
    );
  if (groups.length > 0)
    checks.push(
      check('one of the groups is one of bound_group_ids', 'groups', groupDenialReason(groups, principal)),
    );
  return [...checks, ...claimChecks(role, principal)];
}

/** Compares bounds with the claims that they name. */
function claimChecks(role: RoleBounds, { bound = {} }: Principal): Check[] {
  const bindings = [...claimFields].filter(([field]) => specific(role[field]).length > 0);
  return bindings.map(([field, claims]) => {
    const { noun } = bounds[field];
    const isBound = namesAmong(specific(role[field]), bound[field] ?? []).length > 0;
    const reason = `the token's ${noun} is not among the role's ${field}`;
    return check(`the ${noun} is one of ${field}`, claims.join(', '), reasonUnless(isBound, reason));
  });
}

/**
 * Checks the age of a token against the role's `max_token_age`.
 * @param issuedAt in seconds since 1970; a token without it is too old, and one that was issued in the future has no age
 */
export function ageChecks(
  { max_token_age }: Pick<RoleSettings, 'max_token_age'>,
  issuedAt: number | undefined,
  now: Date,
): Check[] {
  if (max_token_age === 0) return [];
  const age = now.getTime() / 1000 - (issuedAt ?? 0);
  return [check('the token is not older than max_token_age', 'iat', ageDenialReason(age, max_token_age))];
}

function ageDenialReason(age: number, maxAge: number): string | undefined {
  if (age > maxAge + leewaySeconds) return "the token is older than the role's max_token_age";
  return reasonUnless(
    age >= -leewaySeconds,
    "the token's iat lies in the future, and the role has max_token_age",
  );
}

const boundCheck = (role: RoleBounds): Check =>
  check(
    'the role has a bound that is not * and not a location',
    'role',
    reasonUnless(
      !admitsNoLogin(role),
      `the role admits nobody: it needs a specific ${namedBy(sufficientFields)}`,
    ),
  );

const bindingCheck = (role: RoleBounds): Check =>
  check(
    'the role binds principals, as require_principal_binding demands',
    'role',
    reasonUnless(
      bindsPrincipals(role),
      `require_principal_binding: the role has no specific ${anyOf(principalFields)}`,
    ),
  );

/** The claims without groups and other values that the role does not bind, of which there may be 1,000. */
export const boundClaims = (
  role: RoleBounds,
  claims: DirectoryClaims,
): Pick<DirectoryClaims, 'groups' | 'bound'> => ({
  groups: namesAmong(specific(role.bound_group_ids), claims.groups),
  bound: Object.fromEntries(
    [...claimFields.keys()]
      .map((field) => [field, namesAmong(specific(role[field]), claims.bound[field] ?? [])] as const)
      .filter(([, proven]) => proven.length > 0),
  ),
});

function groupDenialReason(
  bound: readonly string[],
  { groups, groupsOmitted }: Principal,
): string | undefined {
  if (namesAmong(bound, groups).length > 0) return undefined;
  if (groupsOmitted)
    return 'the token omits its groups because there are too many of them, and the role has bound_group_ids';
  return "none of the token's groups is among the role's bound_group_ids";
}
