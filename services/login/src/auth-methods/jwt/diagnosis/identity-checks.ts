import type { LoginIdentity } from '../../../queries/tokens/login-tokens.ts';
import { attempt } from '../../diagnosis/attempt.ts';
import { type Check, check, reasonUnless, unreached } from '../../roles/check.ts';
import { boundChecks } from '../claims/bound-checks.ts';
import { type Claims, claimAt } from '../claims/claim-at.ts';
import { groupsOf, metadataOf, userOf } from '../claims/identity-of.ts';
import { timeChecks } from '../claims/time-checks.ts';
import type { JwtContext, ReadyJwtTarget } from '../jwt-context.ts';
import { usedBefore, useOf } from '../login/use-once.ts';
import { wasUsed } from '../queries/used-jwts.ts';
import type { JwtRole } from '../roles/role-fields.ts';

interface IdentityDiagnosis {
  checks: Check[];
  /** Absent if the claims do not name one. */
  identity?: Omit<LoginIdentity, 'source'>;
}

/** Checks what a role demands of the claims of a token. */
export function identityChecks(
  { mountId, role }: ReadyJwtTarget,
  claims: Claims,
  now: Date,
): IdentityDiagnosis {
  const user = attempt(() => userOf(role, claims));
  const groups = attempt(() => groupsOf(role, claims));
  const metadata = attempt(() => metadataOf(role, claims));
  const { groups_claim } = role;
  const mapped = Object.keys(role.claim_mappings).join(', ');
  const checks = [
    ...exactTimeChecks(role, claims, now),
    ...boundChecks(role, (name) => claimAt(claims, name)),
    check('the JWT has the claim that names the entity', role.user_claim, user.reason),
    ...(groups_claim === '' ? [] : [check('the JWT names its groups', groups_claim, groups.reason)]),
    ...(mapped === '' ? [] : [check('the claims in claim_mappings are texts', mapped, metadata.reason)]),
  ];
  if (user.value === undefined || groups.reason !== undefined) return { checks };
  const { iat } = claims;
  const issuedAt = typeof iat === 'number' ? iat : undefined;
  return { checks, identity: { mountId, alias: user.value, groups: groups.value, issuedAt } };
}

const times = ['exp', 'nbf', 'iat'];

/** These read times as numbers, which an earlier check has found that they are. */
function exactTimeChecks(role: JwtRole, claims: Claims, now: Date): Check[] {
  const areNumbers = times.every((name) => claims[name] === undefined || typeof claims[name] === 'number');
  return areNumbers && claims.exp !== undefined
    ? timeChecks(role, claims, now)
    : [unreached('the times of the token are valid with the leeways of the role', times.join(', '))];
}

/** Checks that a token can still be used by a role with `jwt_once`, without using it. */
export async function useChecks(
  { db }: JwtContext,
  { mountId, role }: ReadyJwtTarget,
  claims: Claims,
): Promise<Check[]> {
  const { value: use, reason } = attempt(() => useOf(role, claims));
  if (use === undefined && reason === undefined) return [];
  const isUsed = use !== undefined && (await wasUsed(db, mountId, use.hash));
  return [
    check('the JWT has an ID', 'jti, uti', reason),
    use === undefined
      ? unreached('the JWT has not logged in before', 'jti, uti')
      : check('the JWT has not logged in before', 'jti, uti', reasonUnless(!isUsed, usedBefore)),
  ];
}
