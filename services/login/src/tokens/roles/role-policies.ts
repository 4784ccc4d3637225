import type { Caller } from '@secrets/caller';
import { invalid } from '@secrets/domain';
import { childPolicies, type PolicyRequest, requireMayGiveRoot } from '../create/child-limits.ts';
import { normalisedPolicies, withDefaultPolicy } from '../token-fields.ts';
import type { TokenRole, TokenRoleSettings } from './role-settings.ts';

/**
 * The policies of a token that is created with a role (docs/conventions/access.md#token-roles). If the role lists
 * allowed policies, these take the place of the caller's: the requested ones must be among them, and if none are
 * requested, the token has all that are named in full. If it only disallows some, any others may be requested, provided
 * that its author had `sudo`. Otherwise the rules of a child apply. In each case, disallowed
 * policies are refused, and `root` can be given only by `root`. Throws `forbidden` or `invalid`.
 */
export function rolePolicies(caller: Caller, role: TokenRole, request: PolicyRequest): string[] {
  const isDisallowed = disallowedBy(role);
  const withoutDefault = request.withoutDefault || isWithoutDefault(role);
  const rule = hasAllowedPolicies(role) ? allowedPolicies : role.isOpen ? anyPolicies : childPolicies;
  const policies = rule(caller, { ...request, withoutDefault }, role);
  const refused = normalisedPolicies([...policies, ...(request.policies ?? [])]).filter(isDisallowed);
  if (refused.length > 0) throw invalid(`policies: the role disallows ${refused.join(', ')}`);
  return policies;
}

/**
 * The policies that a role gives to a token, whatever the policies of the token that uses it; those that match a
 * pattern come in addition.
 */
export function givenPolicies(role: TokenRoleSettings): readonly string[] {
  if (!hasAllowedPolicies(role) || isWithoutDefault(role)) return role.allowed_policies;
  return normalisedPolicies(['default', ...role.allowed_policies]);
}

const isWithoutDefault = (role: TokenRoleSettings): boolean =>
  role.token_no_default_policy || disallowedBy(role)('default');

const disallowedBy = (role: TokenRoleSettings) =>
  listedIn(role.disallowed_policies, role.disallowed_policies_glob);

/** Whether a role itself says which policies its tokens may have. */
const hasAllowedPolicies = (role: TokenRoleSettings): boolean =>
  role.allowed_policies.length + role.allowed_policies_glob.length > 0;

/** Whether a role says only which policies its tokens may not have. */
export const onlyDisallows = (role: TokenRoleSettings): boolean =>
  !hasAllowedPolicies(role) && role.disallowed_policies.length + role.disallowed_policies_glob.length > 0;

/** In another namespace, the caller's names denote other policies, so there nothing is inherited. */
function anyPolicies(caller: Caller, { policies: requested, withoutDefault }: PolicyRequest): string[] {
  if (requested === undefined && caller.namespace.id !== caller.tokenNamespace.id)
    throw invalid('policies is required for a token in another namespace');
  const policies = normalisedPolicies(requested ?? caller.policies);
  requireMayGiveRoot(caller, policies);
  return withDefaultPolicy(policies, withoutDefault);
}

function allowedPolicies(
  caller: Caller,
  { policies: requested, withoutDefault }: PolicyRequest,
  role: TokenRoleSettings,
): string[] {
  const policies = normalisedPolicies(requested ?? role.allowed_policies);
  requireMayGiveRoot(caller, policies);
  const isAllowed = listedIn(role.allowed_policies, role.allowed_policies_glob);
  const mayHave = (name: string) => isAllowed(name) || (name === 'default' && !withoutDefault);
  const beyond = policies.filter((name) => !mayHave(name));
  if (beyond.length > 0) throw invalid(`policies: the role does not allow ${beyond.join(', ')}`);
  return withDefaultPolicy(policies, withoutDefault);
}

const listedIn =
  (names: readonly string[], globs: readonly string[]) =>
  (name: string): boolean =>
    names.includes(name) || globs.some((glob) => matchesGlob(glob, name));

/**
 * Whether a name matches a pattern, in which `*` matches any text. Takes linear time, unlike a regular expression with
 * many wildcards.
 */
export function matchesGlob(glob: string, name: string): boolean {
  const [first = '', ...rest] = glob.split('*');
  const last = rest.pop();
  if (last === undefined) return glob === name;
  const end = name.length - last.length;
  if (!name.startsWith(first) || !name.endsWith(last) || end < first.length) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
