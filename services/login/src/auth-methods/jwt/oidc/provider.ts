import { Problem } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import { LRUCache } from 'lru-cache';
import * as oidc from 'openid-client';
import { Outstanding } from '../../verification/http/outstanding.ts';
import { readBounded } from '../../verification/http/read-bounded.ts';
import type { TrustingFetches } from '../../verification/http/trusting-fetches.ts';
import type { JwtConfig } from '../config/config-settings.ts';

const timeoutMs = 5_000;
const maxBytes = 512 * 1024;
const keptMs = 600_000;
const maxProviders = 200;
/** After a failure, the next fetch starts this much later. */
const failureMs = 1_000;
/** Sign-ins of one auth mount that are completed at a time. */
const maxOutstanding = 32;

/** The provider of a mount, as a client of it sees it. */
export interface ProviderOptions {
  config: JwtConfig;
  secret: Sealed<string> | undefined;
  /** Whether a response names its issuer if the provider does so. Command-line clients do not pass that on. */
  hasIssuer?: boolean;
}

/** Clients of providers. Every request goes through the egress guard, takes at most 5 s, and follows no redirect. */
export class Providers {
  readonly #fetches: TrustingFetches;
  readonly #metadata = new LRUCache<string, Promise<oidc.ServerMetadata>>({ max: maxProviders, ttl: keptMs });
  readonly #outstanding = new Outstanding(maxOutstanding, 'too many sign-ins are being completed');

  constructor(fetches: TrustingFetches) {
    this.#fetches = fetches;
  }

  /** Returns the client that a configuration describes. Throws what `asProblem` returns. */
  async of({ config, secret, hasIssuer = true }: ProviderOptions): Promise<oidc.Configuration> {
    const metadata = await this.#metadataOf(config);
    const { oidc_client_id: clientId } = config;
    const server = hasIssuer
      ? metadata
      : { ...metadata, authorization_response_iss_parameter_supported: false };
    const client = { [oidc.clockTolerance]: clockToleranceSeconds };
    const configuration = new oidc.Configuration(
      server,
      clientId,
      client,
      authenticationOf(metadata, secret),
    );
    return this.#prepared(configuration, config);
  }

  /** Completes a sign-in at a mount. Throws `unavailable` if too many are being completed. */
  completing<T>(mountId: string, work: () => Promise<T>): Promise<T> {
    return this.#outstanding.run(mountId, work);
  }

  /** At most one fetch of a document runs at a time, and a failure is remembered for a second. */
  #metadataOf(config: JwtConfig): Promise<oidc.ServerMetadata> {
    const key = JSON.stringify([config.oidc_discovery_url, config.oidc_discovery_ca_pem]);
    const known = this.#metadata.get(key);
    if (known !== undefined) return known;
    const found = this.#discover(config);
    this.#metadata.set(key, found);
    found.catch(() => this.#metadata.set(key, found, { ttl: failureMs }));
    return found;
  }

  async #discover(config: JwtConfig): Promise<oidc.ServerMetadata> {
    const { oidc_discovery_url: issuer, oidc_discovery_ca_pem: ca, oidc_client_id: clientId } = config;
    const found = await oidc
      .discovery(new URL(issuer), clientId, undefined, undefined, {
        [oidc.customFetch]: this.#fetchTrusting(ca),
        execute: issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [],
      })
      .catch((error: unknown) => {
        throw asProblem(error);
      });
    return { ...found.serverMetadata() };
  }

  #prepared(configuration: oidc.Configuration, { oidc_discovery_url, oidc_discovery_ca_pem }: JwtConfig) {
    configuration[oidc.customFetch] = this.#fetchTrusting(oidc_discovery_ca_pem);
    if (oidc_discovery_url.startsWith('http:')) oidc.allowInsecureRequests(configuration);
    return configuration;
  }

  #fetchTrusting =
    (ca: string): oidc.CustomFetch =>
    async (url, { method, headers, body }) => {
      const response = await this.#fetches.trusting(ca)(url, {
        signal: AbortSignal.timeout(timeoutMs),
        method,
        headers: { ...headers, 'accept-encoding': 'identity' },
        ...(body == null ? {} : { body: String(body) }),
      });
      const bytes = await readBounded(response, maxBytes);
      if (bytes === undefined)
        throw new Problem('bad_gateway', 'the provider returned a document that is too large');
      const { status } = response;
      const isEmpty = bytes.length === 0 || [204, 205, 304].includes(status);
      return new Response(isEmpty ? null : bytes, { status, headers: Object.fromEntries(response.headers) });
    };
}

/** The leeway of the times of JWTs, too (docs/conventions/jwt.md#roles). */
const clockToleranceSeconds = 60;

/** The way in which the client proves who it is: RFC 6749, section 2.3.1, by default with the header. */
function authenticationOf(
  metadata: oidc.ServerMetadata,
  secret: Sealed<string> | undefined,
): oidc.ClientAuth {
  if (secret === undefined) return oidc.None();
  const supported = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return supported.includes('client_secret_basic')
    ? oidc.ClientSecretBasic(secret.reveal())
    : oidc.ClientSecretPost(secret.reveal());
}

/** Codes of errors, which become part of sentences. */
const code = /^[\w.-]{1,64}$/;
const shown = (error: string): string => (code.test(error) ? error : 'an unknown error');

/** Errors at the provider's token endpoint that the configuration of the mount causes: RFC 6749, section 5.2. */
const ofConfiguration = ['invalid_client', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope'];

/**
 * Why a call of the provider has failed, without anything of its responses but codes. Its errors are no causes: they contain
 * responses, with tokens.
 */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof oidc.AuthorizationResponseError)
    return new Problem('forbidden', `the provider refused the sign-in: ${shown(error.error)}`);
  if (error instanceof oidc.ResponseBodyError) {
    const sentence = `the provider refused the request of this auth mount: ${shown(error.error)}`;
    if (error.status >= 500) return new Problem('unavailable', sentence, { retryAfterSeconds: 2 });
    return new Problem(ofConfiguration.includes(error.error) ? 'bad_gateway' : 'forbidden', sentence);
  }
  if (error instanceof oidc.WWWAuthenticateChallengeError)
    return new Problem(
      'bad_gateway',
      'the provider does not accept the client_id and secret of this auth mount',
    );
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Problem) return cause;
  if (error instanceof oidc.ClientError && error.code === 'OAUTH_RESPONSE_IS_NOT_CONFORM')
    return statusProblem(cause);
  if (error instanceof oidc.ClientError)
    return new Problem('forbidden', `the response of the provider was refused: ${shown(error.code ?? '')}`);
  return new Problem('unavailable', 'the provider does not respond', { cause: error, retryAfterSeconds: 2 });
}

const statusProblem = (cause: unknown): Problem =>
  cause instanceof Response && (cause.status >= 500 || cause.status === 429)
    ? new Problem('unavailable', `the provider returned status ${cause.status}`, { retryAfterSeconds: 2 })
    : new Problem('bad_gateway', 'the provider returned something unusable');
