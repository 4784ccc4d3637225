import {
  exportJWK,
  type GenerateKeyPairResult,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from 'jose';
import {
  audiencesOf,
  boundClaims,
  idsIn,
  legacyClaims,
  serverAudience,
  type TokenRequest,
  userOf,
} from './service-account-tokens.ts';

const kid = 'cluster-key-1';
export const reviewerUid = '55555555-aaaa-4bbb-8ccc-666666666666';

/** Signs the tokens of the service accounts of a cluster, and knows which of them exist. */
export class Authority {
  readonly keys: GenerateKeyPairResult;
  readonly jwk: JWK;
  readonly removed = new Set<string>();
  readonly delegators = new Set([reviewerUid]);

  private constructor(keys: GenerateKeyPairResult, jwk: JWK) {
    this.keys = keys;
    this.jwk = jwk;
  }

  static async create(): Promise<Authority> {
    const keys = await generateKeyPair('RS256', { extractable: true });
    return new Authority(keys, { ...(await exportJWK(keys.publicKey)), kid, use: 'sig', alg: 'RS256' });
  }

  issue = (request: TokenRequest = {}): Promise<string> => this.#sign(boundClaims(request), request);

  issueLegacy = (request: TokenRequest = {}): Promise<string> => this.#sign(legacyClaims(request), request);

  #sign(claims: Record<string, unknown>, { header, keys = this.keys, claims: replaced }: TokenRequest) {
    const jwt = new SignJWT({ ...claims, ...replaced });
    return jwt.setProtectedHeader({ alg: 'RS256', kid, ...header }).sign(keys.privateKey);
  }

  /** Returns the status with which a request of this caller for a review is refused; undefined if it is not. */
  async refusal(bearer: string): Promise<401 | 403 | undefined> {
    const caller = await this.#authenticated(bearer);
    if (caller === undefined || !audiencesOf(caller).includes(serverAudience)) return 401;
    return this.delegators.has(idsIn(caller)[0]!) ? undefined : 403;
  }

  /** Reviews a token as documented: https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-review-v1 */
  async statusOf(token: string, wanted = [serverAudience]): Promise<object> {
    const claims = await this.#authenticated(token);
    const audiences = claims === undefined ? [] : wanted.filter((one) => audiencesOf(claims).includes(one));
    return claims === undefined || audiences.length === 0
      ? { user: {}, error: '[invalid bearer token, token audiences are not valid]' }
      : { authenticated: true, user: userOf(claims), audiences };
  }

  async #authenticated(token: string): Promise<JWTPayload | undefined> {
    const verified = await jwtVerify(token, this.keys.publicKey).catch(() => undefined);
    return idsIn(verified?.payload ?? {}).some((id) => this.removed.has(id)) ? undefined : verified?.payload;
  }
}
