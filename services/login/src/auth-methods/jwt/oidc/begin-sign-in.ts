import { invalid } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import * as oidc from 'openid-client';
import type { LoginEndpoint } from '../../auth-method.ts';
import type { JwtContext, ReadyJwtTarget } from '../jwt-context.ts';
import { requireTarget } from '../login/require-target.ts';
import { asProblem } from './provider.ts';
import { isAllowedRedirect } from './redirect-uris.ts';
import { clientHash, providerHash, signInSeconds, stateOf } from './sign-in-state.ts';

/** A sign-in that a client begins. */
export interface SignInRequest {
  role: string;
  redirectUri: string;
  clientNonce: string;
}

/** A target whose mount and role are for sign-in with a browser, with the secret of the mount at the provider. */
export interface SignInTarget extends ReadyJwtTarget {
  secret: Sealed<string> | undefined;
}

/**
 * Returns the URL at which a user signs in (OpenID Connect Core 1.0, section 3.1.2.1, with PKCE).
 * @throws a problem: `invalid` if mount, role or redirect URI are not for this, `unavailable` or `bad_gateway` if the provider
 *   cannot be used
 */
export async function beginSignIn(
  context: JwtContext,
  at: LoginEndpoint,
  { role: name, redirectUri, clientNonce }: SignInRequest,
): Promise<string> {
  const target = await requireSignInTarget(context, at, name);
  const { config, role, roleName, mountId } = target;
  if (!isAllowedRedirect(redirectUri, role.allowed_redirect_uris))
    throw invalid("redirect_uri: is not among the role's allowed_redirect_uris");
  const provider = await context.providers.of(target);
  const [nonce, codeVerifier] = [oidc.randomNonce(), oidc.randomPKCECodeVerifier()];
  const signIn = {
    role: roleName,
    redirectUri,
    provider: providerHash(config),
    nonce,
    codeVerifier,
    client: clientHash(clientNonce),
    expiresAtMs: context.db.now() + signInSeconds * 1_000,
  };
  const parameters = {
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: ['openid', ...role.oidc_scopes.filter((scope) => scope !== 'openid')].join(' '),
    state: stateOf(context.keyRing, mountId, signIn),
    nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
    ...(role.max_age === 0 ? {} : { max_age: String(role.max_age) }),
  };
  try {
    return oidc.buildAuthorizationUrl(provider, parameters).href;
  } catch (error) {
    throw asProblem(error);
  }
}

/** @throws a problem: `invalid` if mount or role are not for sign-in with a browser, and what `readClientSecret` throws */
export async function requireSignInTarget(
  context: JwtContext,
  at: LoginEndpoint,
  name: string,
): Promise<SignInTarget> {
  const target = await requireTarget(context, at, name);
  const { config, role, mountId } = target;
  if (config.oidc_client_id === '')
    throw invalid('this auth mount has no oidc_client_id, which sign-in with a browser needs');
  if (role.role_type !== 'oidc')
    throw invalid('role: has the role_type jwt, which is not for sign-in with a browser');
  return { ...target, secret: await context.clientSecretOf(mountId, config) };
}
