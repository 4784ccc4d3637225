import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { type JWTPayload, jwtVerify } from 'jose';
import { z } from 'zod';
import { errorInfo, GoogleError } from '../google-error.ts';
import type { ServiceAccount } from './service-account.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const API_AUDIENCE = 'https://secretmanager.googleapis.com/';
const CLOCK_SKEW_SECONDS = 300;
const MAX_LIFETIME_SECONDS = 3600;
const PREFIX = 'ya29.';

const TokenContent = z.object({
  email: z.string(),
  until: z.number(),
  /** Of a federated identity: the service account that it may impersonate, which is all that it may do. */
  impersonates: z.string().optional(),
});

/** Why an access token is refused, as the reason in the error's details. */
type Reason =
  | 'CREDENTIALS_MISSING'
  | 'ACCESS_TOKEN_TYPE_UNSUPPORTED'
  | 'ACCESS_TOKEN_EXPIRED'
  | 'ACCESS_TOKEN_SCOPE_INSUFFICIENT';

/**
 * Issues and verifies access tokens. Like the provider, it accepts tokens from its token endpoint and JWTs that a
 * service account has signed itself (https://google.aip.dev/auth/4111). Issued tokens are not stored, so they survive a
 * restart: they contain their expiry, authenticated with a key that is derived from the seed.
 */
export class AccessTokens {
  readonly #account: ServiceAccount;
  readonly #key: Buffer;
  readonly #lifetimeSeconds: number;

  constructor(account: ServiceAccount, seed: string, lifetimeSeconds: number) {
    this.#account = account;
    this.#key = createHash('sha256').update(`sandbox access token ${seed}`).digest();
    this.#lifetimeSeconds = lifetimeSeconds;
  }

  /**
   * Exchanges a signed assertion for a token (RFC 7523).
   * @throws unless the service account has signed it for a token endpoint, with the scope of the API
   */
  async exchange(assertion: string, nowMs: number): Promise<{ token: string; expiresIn: number }> {
    const { aud, scope } = await this.#verified(assertion);
    if (!String(aud).endsWith('/token')) throw new Error('the audience is not a token endpoint');
    if (!hasScope(scope)) throw new Error('the scope does not include the API');
    return this.issue({ email: this.#account.email }, nowMs);
  }

  /** Issues a token of a service account or of a federated identity. */
  issue(
    identity: { email: string; impersonates?: string | undefined },
    nowMs: number,
    expiresIn = this.#lifetimeSeconds,
  ): { token: string; expiresIn: number } {
    const until = nowMs + expiresIn * 1000;
    const content = Buffer.from(JSON.stringify({ ...identity, until })).toString('base64url');
    return { token: `${PREFIX}${content}.${this.#mac(content)}`, expiresIn };
  }

  /**
   * Verifies that the header `Authorization` belongs to an identity that may impersonate a service account.
   * @throws GoogleError UNAUTHENTICATED, PERMISSION_DENIED
   */
  requireImpersonation(authorization: string | undefined, email: string, nowMs: number): void {
    const token = new RegExp(`^Bearer ${PREFIX}([\\w.-]{1,8192})$`).exec(authorization ?? '')?.[1];
    if (token === undefined) throw refused('CREDENTIALS_MISSING');
    if (this.#content(token, nowMs).impersonates !== email)
      throw new GoogleError(
        'PERMISSION_DENIED',
        "Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist).",
        [errorInfo('IAM_PERMISSION_DENIED')],
      );
  }

  /**
   * Returns the caller that the header `Authorization` belongs to.
   * @throws GoogleError UNAUTHENTICATED, PERMISSION_DENIED
   */
  async caller(authorization: string | undefined, nowMs: number): Promise<string> {
    const token = /^Bearer ([\w.-]{1,8192})$/.exec(authorization ?? '')?.[1];
    if (token === undefined) throw refused('CREDENTIALS_MISSING');
    return token.startsWith(PREFIX)
      ? this.#issued(token.slice(PREFIX.length), nowMs)
      : this.#selfSigned(token);
  }

  #issued(token: string, nowMs: number): string {
    const { email, impersonates } = this.#content(token, nowMs);
    if (impersonates !== undefined)
      throw new GoogleError('PERMISSION_DENIED', 'Permission denied on the resource.', [
        errorInfo('IAM_PERMISSION_DENIED'),
      ]);
    return email;
  }

  #content(token: string, nowMs: number): z.infer<typeof TokenContent> {
    const [content = '', mac = ''] = token.split('.');
    const [expected, sent] = [Buffer.from(this.#mac(content)), Buffer.from(mac)];
    if (expected.length !== sent.length || !timingSafeEqual(expected, sent))
      throw refused('ACCESS_TOKEN_TYPE_UNSUPPORTED');
    const parsed = TokenContent.parse(JSON.parse(Buffer.from(content, 'base64url').toString()));
    if (parsed.until <= nowMs) throw refused('ACCESS_TOKEN_EXPIRED');
    return parsed;
  }

  async #selfSigned(token: string): Promise<string> {
    const { aud, scope } = await this.#verified(token).catch(() => {
      throw refused('ACCESS_TOKEN_TYPE_UNSUPPORTED');
    });
    if (aud !== API_AUDIENCE && !hasScope(scope)) throw refused('ACCESS_TOKEN_SCOPE_INSUFFICIENT');
    return this.#account.email;
  }

  async #verified(jwt: string): Promise<JWTPayload> {
    const { email, publicKey } = this.#account;
    const { payload } = await jwtVerify(jwt, publicKey, {
      algorithms: ['RS256'],
      issuer: email,
      requiredClaims: ['iat', 'exp'],
      clockTolerance: CLOCK_SKEW_SECONDS,
    });
    const { iat = 0, exp = 0 } = payload;
    if (exp - iat > MAX_LIFETIME_SECONDS || iat > Date.now() / 1000 + CLOCK_SKEW_SECONDS)
      throw new Error('the token lives too long or is not valid yet');
    return payload;
  }

  #mac(content: string): string {
    return createHmac('sha256', this.#key).update(content).digest('base64url');
  }
}

const hasScope = (scope: unknown): boolean => typeof scope === 'string' && scope.split(' ').includes(SCOPE);

function refused(reason: Reason): GoogleError {
  if (reason === 'ACCESS_TOKEN_SCOPE_INSUFFICIENT')
    return new GoogleError('PERMISSION_DENIED', 'Request had insufficient authentication scopes.', [
      errorInfo(reason),
    ]);
  const message =
    reason === 'CREDENTIALS_MISSING'
      ? 'Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other valid authentication credential.'
      : 'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.';
  return new GoogleError('UNAUTHENTICATED', message, [errorInfo(reason)]);
}
