import { isJsonObject, Problem, withoutControl } from '@secrets/domain';
import { isStorable } from '../roles/bound-claims.ts';
import type { JwtRole } from '../roles/role-fields.ts';
import { type Claims, claimAt } from './claim-at.ts';

const maxUserLength = 512;
const maxGroups = 1_000;
const maxGroupLength = 512;
const maxMetadataLength = 1_024;

const forbidden = (sentence: string): Problem => new Problem('forbidden', sentence);

/** The value of `user_claim`, which names the identity. Throws `forbidden` if it is not a text. */
export function userOf({ user_claim, user_claim_json_pointer }: JwtRole, claims: Claims): string {
  const own = Object.hasOwn(claims, user_claim) ? claims[user_claim] : undefined;
  const user = user_claim_json_pointer && user_claim.startsWith('/') ? claimAt(claims, user_claim) : own;
  const isName = typeof user === 'string' && user.trim() !== '' && user.length <= maxUserLength;
  if (!isName || !withoutControl.test(user) || !isStorable(user))
    throw forbidden(`the token's ${user_claim}, which is the role's user_claim, is missing or not a text`);
  return user;
}

/** The groups in `groups_claim`; undefined if the role has none. Throws `forbidden` if they are not texts, or are too many. */
export function groupsOf({ groups_claim }: JwtRole, claims: Claims): string[] | undefined {
  if (groups_claim === '') return undefined;
  const found = claimAt(claims, groups_claim);
  if (found === undefined && areOmitted(claims, groups_claim))
    throw forbidden(`the token omits its ${groups_claim} because there are too many of them`);
  const groups = typeof found === 'string' ? [found] : found;
  const areNames =
    Array.isArray(groups) &&
    groups.length <= maxGroups &&
    groups.every((group) => typeof group === 'string' && group.length <= maxGroupLength && isStorable(group));
  if (!areNames)
    throw forbidden(
      `the token's ${groups_claim}, which is the role's groups_claim, is missing or not a list of texts`,
    );
  return groups.filter((group) => group !== '');
}

/** Groups that the directory keeps elsewhere: OpenID Connect Core 1.0, section 5.6.2. */
const areOmitted = ({ _claim_names: names }: Claims, claim: string): boolean =>
  isJsonObject(names) && Object.hasOwn(names, claim);

/** The metadata of the token by `claim_mappings`, without claims that the token does not have. */
export function metadataOf({ claim_mappings }: JwtRole, claims: Claims): Record<string, string> {
  const found = Object.entries(claim_mappings).flatMap(([claim, name]) => {
    const value = claimAt(claims, claim);
    if (value === undefined || value === null) return [];
    if (typeof value !== 'string' || value.length > maxMetadataLength || !isStorable(value))
      throw forbidden(`the token's ${claim}, which the role's claim_mappings name, is not a short text`);
    return [[name, value] as const];
  });
  return Object.fromEntries(found);
}
