import { AsyncLocalStorage } from 'node:async_hooks';
import type { HttpClient, PipelineRequest, PipelineResponse } from '@azure/core-rest-pipeline';
import {
  type AccessToken,
  ClientAssertionCredential,
  ClientSecretCredential,
  ManagedIdentityCredential,
  type TokenCredential,
} from '@azure/identity';
import { Problem } from '@secrets/domain';
import type { CredentialSource } from './credential-source.ts';
import {
  directoryIssuer,
  metadataIssuer,
  type TokenIssuer,
  tokenOutage,
  tokenProblem,
} from './token-problem.ts';

export interface SdkCredentialOptions {
  source: CredentialSource;
  tenantId: string;
  /** Of the mount's cloud. */
  authority: string;
  /** Sends the requests, with retries. */
  httpClient: HttpClient;
  /** Signs an identity token about the mount. */
  assertion: () => Promise<string>;
}

/** Who requests a token: of managed identities, the SDK uses the HTTP client of the first one of the process for all. */
const requesting = new AsyncLocalStorage<SdkCredential>();

/**
 * Requests access tokens with the SDK; one request at a time. It throws `Problem`: the SDK wraps the errors of its HTTP
 * client, and keeps only their text, so that the reason is kept here.
 */
export class SdkCredential {
  readonly #issuer: TokenIssuer;
  readonly #options: SdkCredentialOptions;
  readonly #credential: TokenCredential;
  #problem: Problem | undefined;
  #assertion: Promise<string> | undefined;

  constructor(options: SdkCredentialOptions) {
    this.#options = options;
    this.#issuer = options.source.kind === 'managed identity' ? metadataIssuer : directoryIssuer;
    this.#credential = this.#create(options);
  }

  async request(scope: string): Promise<AccessToken> {
    this.#problem = undefined;
    this.#assertion = undefined;
    try {
      const token = await requesting.run(this, () => this.#credential.getToken(scope));
      if (token !== null) return token;
    } catch (cause) {
      throw this.#problem ?? (cause instanceof Problem ? cause : this.#refusal(cause));
    }
    throw this.#refusal(undefined);
  }

  #create({ source, tenantId, authority }: SdkCredentialOptions): TokenCredential {
    const options = {
      retryOptions: { maxRetries: 0 }, // the HTTP client repeats requests
      redirectOptions: { maxRetries: 0 },
      authorityHost: authority,
      disableInstanceDiscovery: true, // the cloud's authority is known
      httpClient: {
        sendRequest: (request: PipelineRequest) => (requesting.getStore() ?? this).#send(request),
      },
    };
    const { clientId } = source;
    if (source.kind === 'secret')
      return new ClientSecretCredential(tenantId, clientId, source.secret.reveal(), options);
    if (source.kind === 'federation')
      return new ClientAssertionCredential(tenantId, clientId, () => this.#sharedAssertion(), options);
    return new ManagedIdentityCredential({ ...options, ...(clientId === '' ? {} : { clientId }) });
  }

  /** One identity token per request: the SDK asks for it more than once before it sends one. */
  #sharedAssertion(): Promise<string> {
    this.#assertion ??= this.#options.assertion().catch((error: unknown) => {
      this.#problem = unsigned(error);
      throw error;
    });
    return this.#assertion;
  }

  async #send(request: PipelineRequest): Promise<PipelineResponse> {
    try {
      const response = await this.#options.httpClient.sendRequest(request);
      this.#problem = tokenProblem(this.#issuer, response, Date.now());
      return response;
    } catch (error) {
      this.#problem = error instanceof Problem ? error : tokenOutage(this.#issuer, error);
      throw error;
    }
  }

  #refusal(cause: unknown): Problem {
    return new Problem('bad_gateway', this.#issuer.refusal, { cause });
  }
}

/** The issuer of identity tokens is not configured, or the database is down. */
const unsigned = (error: unknown): Problem =>
  error instanceof Problem && error.kind === 'not_found'
    ? new Problem('bad_gateway', error.sentences[0])
    : new Problem('unavailable', 'this service cannot sign an identity token', { cause: error });
