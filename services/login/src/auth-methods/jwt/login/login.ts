import { invalid, Problem } from '@secrets/domain';
import { type IssuedToken, issueToken } from '../../../tokens/issue-token.ts';
import { planLifetime } from '../../../tokens/token-lifetime.ts';
import type { LoginEndpoint } from '../../auth-method.ts';
import { addressChecks } from '../../roles/address-checks.ts';
import { requirePassed } from '../../roles/check.ts';
import { lifetimeRequest, tokenOfRole } from '../../roles/role-tokens.ts';
import { boundChecks } from '../claims/bound-checks.ts';
import { claimAt } from '../claims/claim-at.ts';
import { groupsOf, metadataOf, userOf } from '../claims/identity-of.ts';
import { timeChecks } from '../claims/time-checks.ts';
import { type VerifiedJwt, verifyJwt } from '../claims/verify-jwt.ts';
import type { JwtContext, ReadyJwtTarget } from '../jwt-context.ts';
import type { JwtLoginRequest } from './login-request.ts';
import { loginSource } from './login-source.ts';
import { requireTarget } from './require-target.ts';
import { tokenIdOf, useOnce } from './use-once.ts';

/** Logs a caller in with a token: verify, compare the claims with the role, issue. */
export async function logInWithJwt(
  context: JwtContext,
  at: LoginEndpoint,
  { role: name = '', jwt }: JwtLoginRequest,
): Promise<IssuedToken> {
  const target = await requireTarget(context, at, name);
  const { mountId, config, role } = target;
  if (role.role_type !== 'jwt')
    throw invalid('role: has the role_type oidc, which is for sign-in with a browser');
  requirePassed(addressChecks(role, at.remoteAddress));
  const now = new Date(context.db.now());
  const verified = await verifyJwt(jwt, context.jwtKeys.of(mountId, config), target, now);
  return issueForClaims(context, at, target, { ...verified, now });
}

interface Verified extends VerifiedJwt {
  now: Date;
}

/** Issues a token if the role admits the claims. Throws a problem (`forbidden`) that names the failed check otherwise. */
export async function issueForClaims(
  context: JwtContext,
  at: LoginEndpoint,
  target: ReadyJwtTarget,
  verified: Verified,
): Promise<IssuedToken> {
  const { mountId, role, limits } = target;
  const { claims, now } = verified;
  const identity = admitted(context, at, target, verified);
  await useOnce(context, target, claims);
  return issueToken(context, {
    ...tokenOfRole(role, at, {
      principal: identity.user,
      metadata: { ...identity.metadata, role: target.roleName },
    }),
    lifetime: planLifetime(lifetimeRequest(role), now, { limits }),
    owner: {
      mountId,
      alias: identity.user,
      groups: identity.groups,
      issuedAt: claims.iat as number | undefined,
      source: loginSource(target, verified),
    },
  });
}

/** The identity of a token that the role admits. Throws the reason otherwise, and logs it without claims. */
function admitted(
  { log }: JwtContext,
  at: LoginEndpoint,
  { role }: ReadyJwtTarget,
  { claims, kid, now }: Verified,
) {
  const proven = { kid, tokenId: tokenIdOf(claims) };
  try {
    requirePassed([...timeChecks(role, claims, now), ...boundChecks(role, (name) => claimAt(claims, name))]);
    const identity = {
      user: userOf(role, claims),
      groups: groupsOf(role, claims),
      metadata: metadataOf(role, claims),
    };
    log.debug(proven, 'JWT verified');
    return identity;
  } catch (error) {
    if (error instanceof Problem)
      log.info({ ...proven, mount: at.mount, refusal: error.message }, 'login refused');
    throw error;
  }
}
