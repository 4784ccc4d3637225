import { createHash } from 'node:crypto';
import { Problem } from '@secrets/domain';
import * as oidc from 'openid-client';
import type { IssuedToken } from '../../../tokens/issue-token.ts';
import type { LoginEndpoint } from '../../auth-method.ts';
import { addressChecks } from '../../roles/address-checks.ts';
import { requirePassed } from '../../roles/check.ts';
import { type Claims, claimAt } from '../claims/claim-at.ts';
import { verifyJwt } from '../claims/verify-jwt.ts';
import type { JwtContext } from '../jwt-context.ts';
import { issueForClaims } from '../login/login.ts';
import { recordUse } from '../queries/used-jwts.ts';
import type { JwtRole } from '../roles/role-fields.ts';
import { requireSignInTarget, type SignInTarget } from './begin-sign-in.ts';
import { asProblem } from './provider.ts';
import { isAllowedRedirect, isOfCommandLine } from './redirect-uris.ts';
import { providerHash, type SignIn, signInOf, signInSeconds } from './sign-in-state.ts';

/** The parameters with which the provider has sent the user back, and the nonce of the client. */
export interface SignInResponse {
  state: string;
  clientNonce: string;
  code: string;
  /** The issuer, if the provider names it (RFC 9207), which command-line clients do not pass on. */
  iss: string;
  error: string;
}

/**
 * Completes a sign-in: redeems the code, verifies the ID token like any other JWT, and issues a token.
 * @throws a problem: `forbidden` if a check failed, `unavailable` or `bad_gateway` if the provider cannot be used
 */
export async function completeSignIn(
  context: JwtContext,
  at: LoginEndpoint & { mountId: string },
  response: SignInResponse,
): Promise<IssuedToken> {
  const nowMs = context.db.now();
  const signIn = signInOf(context.keyRing, at.mountId, { ...response, nowMs });
  await useStateOnce(context, at.mountId, { state: response.state, nowMs });
  const target = await requireSignInTarget(context, at, signIn.role);
  if (target.mountId !== at.mountId || !isStillAllowed(target, signIn))
    throw new Problem('forbidden', 'state: the auth mount or the role has changed since; begin again');
  requirePassed(addressChecks(target.role, at.remoteAddress));
  const verified = await context.providers.completing(target.mountId, () =>
    verifiedClaims(context, target, signIn, response),
  );
  return issueForClaims(context, at, target, verified);
}

/** Whether a sign-in could begin as it did: at this provider, and with a return to the same place. */
const isStillAllowed = ({ config, role }: SignInTarget, { provider, redirectUri }: SignIn): boolean =>
  provider === providerHash(config) && isAllowedRedirect(redirectUri, role.allowed_redirect_uris);

async function verifiedClaims(
  context: JwtContext,
  target: SignInTarget,
  signIn: SignIn,
  response: SignInResponse,
) {
  const { idToken, claimsOfUser } = await redeem(context, target, signIn, response);
  const now = new Date(context.db.now());
  const keys = context.jwtKeys.of(target.mountId, target.config);
  const verified = await verifyJwt(idToken, keys, target, now);
  const { claims } = verified;
  return { ...verified, claims: { ...(await claimsOfUser(claims)), ...claims }, now };
}

/** The provider sends a user back once. Whoever learns the URL of that later cannot use it again. */
async function useStateOnce(
  { db, log }: JwtContext,
  mountId: string,
  { state, nowMs }: { state: string; nowMs: number },
): Promise<void> {
  const hash = createHash('sha256').update(`oidc state ${state}`).digest();
  if (await recordUse(db, mountId, hash, new Date(nowMs + 2 * signInSeconds * 1_000))) return;
  log.warn({ mountId }, 'the state of a sign-in was used again');
  throw new Problem('forbidden', 'state: was used before; begin again');
}

interface Redeemed {
  idToken: string;
  /** Returns the claims that the role needs and the ID token lacks, as far as the provider has them. */
  claimsOfUser(claims: Claims): Promise<Claims>;
}

async function redeem(
  { providers }: JwtContext,
  target: SignInTarget,
  { redirectUri, nonce, codeVerifier }: SignIn,
  { state, code, iss, error }: SignInResponse,
): Promise<Redeemed> {
  const hasIssuer = iss !== '' || !isOfCommandLine(redirectUri);
  const provider = await providers.of({ ...target, hasIssuer });
  if (iss === '') refuseWithoutIssuer(provider);
  const current = new URL(redirectUri);
  for (const [name, value] of Object.entries({ state, code, iss, error }))
    if (value !== '') current.searchParams.set(name, value);
  const { max_age } = target.role;
  const checks = {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: codeVerifier,
    idTokenExpected: true,
    ...(max_age === 0 ? {} : { maxAge: max_age }),
  };
  const tokens = await oidc.authorizationCodeGrant(provider, current, checks).catch((cause: unknown) => {
    throw asProblem(cause);
  });
  return {
    idToken: tokens.id_token!,
    claimsOfUser: async (claims) => {
      const hasMore = provider.serverMetadata().userinfo_endpoint !== undefined;
      const missing = neededClaims(target.role).filter((name) => !isKnown(claims, name));
      if (!hasMore || missing.length === 0) return {};
      const described = await oidc
        .fetchUserInfo(provider, tokens.access_token, claims.sub as string)
        .catch((cause: unknown) => {
          throw asProblem(cause);
        });
      return Object.fromEntries(Object.entries(described).filter(([key]) => leadsToOne(key, missing)));
    },
  };
}

/** Throws `forbidden` if the response of a provider must name its issuer: without that, it is of another one (RFC 9207). */
function refuseWithoutIssuer(provider: oidc.Configuration): void {
  if (provider.serverMetadata().authorization_response_iss_parameter_supported === true)
    throw new Problem('forbidden', 'iss: is required, because the provider sends it with each response');
}

/** The claims that a role reads. */
const neededClaims = (role: JwtRole): string[] =>
  [
    role.user_claim,
    role.groups_claim,
    ...Object.keys(role.bound_claims),
    ...Object.keys(role.claim_mappings),
  ].filter((name) => name !== '');

/** Whether a claim is, or contains, one of these, which may be JSON pointers or lead into a claim with dots. */
const leadsToOne = (key: string, names: readonly string[]): boolean =>
  names.some(
    (name) => [key, `/${key}`].includes(name) || name.startsWith(`${key}.`) || name.startsWith(`/${key}/`),
  );

/** Groups that a token omits because they are too many are not asked for: their absence is the reason of a refusal. */
const isKnown = (claims: Claims, name: string): boolean =>
  claimAt(claims, name) !== undefined ||
  Object.hasOwn(claims, name) ||
  Object.hasOwn((claims._claim_names as object | undefined) ?? {}, name);
