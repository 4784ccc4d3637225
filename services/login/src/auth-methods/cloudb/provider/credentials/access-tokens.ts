import type { AccessToken, TokenCredential } from '@azure/identity';
import { Problem } from '@secrets/domain';

/** The SDK returns its own cached token until it expires in less than this. */
const refreshBeforeMs = 5 * 60_000;
/** A token that expires sooner is not sent: the request takes a while, too, and clocks differ. */
const marginMs = 30_000;
const refreshCoolDownMs = 30_000;
/** So long is a refusal of the credentials kept: each login would repeat it, and the directory blocks who repeats it often. */
const refusedMs = 5_000;

type RequestToken = (scope: string) => Promise<AccessToken>;

interface Kept {
  token: AccessToken | undefined;
  pending: Promise<AccessToken> | undefined;
  failedAt: number;
  refusal: Problem | undefined;
}

/**
 * The access tokens of one set of credentials, by scope. A token is refreshed in the background before it expires, and
 * the old one is used meanwhile, also if the refresh fails. At most one request per scope runs at a time. A refusal
 * (`bad_gateway`) is kept for 5 s.
 */
export class AccessTokens implements TokenCredential {
  readonly #request: RequestToken;
  readonly #clock: () => number;
  readonly #kept = new Map<string, Kept>();

  constructor(request: RequestToken, clock: () => number = Date.now) {
    this.#request = request;
    this.#clock = clock;
  }

  /**
   * For the SDK, which would keep the token and refresh it in the background, where a failure ends the process as an
   * unhandled rejection. To it, the token has expired already, so that it asks each time.
   */
  async getToken(scopes: string | string[]): Promise<AccessToken> {
    const { token } = await this.get([scopes].flat().join(' '));
    return { token, expiresOnTimestamp: 0 };
  }

  /** A token that is valid for a while. Throws what the request throws. */
  async get(scope: string): Promise<AccessToken> {
    const kept = this.#keptFor(scope);
    const { token } = kept;
    const leftMs = (token?.expiresOnTimestamp ?? 0) - this.#clock();
    if (token === undefined || leftMs < marginMs) {
      if (kept.refusal !== undefined && this.#clock() - kept.failedAt < refusedMs) throw kept.refusal;
      return this.#refreshed(kept, scope);
    }
    const mayRefresh = this.#clock() - kept.failedAt >= refreshCoolDownMs;
    if (leftMs < refreshBeforeMs && mayRefresh) this.#refreshed(kept, scope).catch(() => undefined);
    return token;
  }

  /** For a check of what the operator may just have corrected. */
  forgetRefusals(): void {
    for (const kept of this.#kept.values()) kept.refusal = undefined;
  }

  #keptFor(scope: string): Kept {
    const kept = this.#kept.get(scope) ?? {
      token: undefined,
      pending: undefined,
      failedAt: Number.NEGATIVE_INFINITY,
      refusal: undefined,
    };
    this.#kept.set(scope, kept);
    return kept;
  }

  #refreshed(kept: Kept, scope: string): Promise<AccessToken> {
    kept.pending ??= this.#renew(kept, scope).finally(() => {
      kept.pending = undefined;
    });
    return kept.pending;
  }

  async #renew(kept: Kept, scope: string): Promise<AccessToken> {
    try {
      kept.token = await this.#request(scope);
      return kept.token;
    } catch (error) {
      kept.failedAt = this.#clock();
      kept.refusal = error instanceof Problem && error.kind === 'bad_gateway' ? error : undefined;
      throw error;
    }
  }
}
