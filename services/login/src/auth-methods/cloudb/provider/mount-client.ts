import type { HttpClient } from '@azure/core-rest-pipeline';
import type { Sealed } from '@secrets/seal';
import type { Logger } from '@secrets/telemetry';
import type { ConfigSettings } from '../config/config-settings.ts';
import { type Cloud, clouds, type ProviderUrls } from './clouds.ts';
import { AccessTokens } from './credentials/access-tokens.ts';
import {
  type CredentialSource,
  credentialSource,
  type EnvironmentCredentials,
} from './credentials/credential-source.ts';
import { SdkCredential } from './credentials/sdk-credential.ts';
import { ApplicationPasswords } from './graph/application-passwords.ts';
import { boundedClient, type OriginOverride } from './http/bounded-client.ts';
import { loggingClient } from './http/debug-log.ts';
import { retryingClient } from './http/retrying-client.ts';
import { LookupCache } from './lookup-cache.ts';
import { ResourceApi } from './resources/resource-api.ts';

const metadataOrigin = 'http://169.254.169.254';
/** For a request with its retries: less than a login waits, so that its failure has a reason. */
const requestBudgetMs = 15_000;

export interface MountClientOptions {
  urls: ProviderUrls;
  /** Undefined if the mount must not use the credentials of this service. */
  environment: EnvironmentCredentials | undefined;
  /** Where requests are logged; undefined if they are not. */
  debugLog: Logger | undefined;
  settings: ConfigSettings;
  secret: Sealed<string> | undefined;
  /** Signs an identity token about the mount. */
  assertion: () => Promise<string>;
}

/** The provider as one configuration of a mount uses it: its SDK clients, access tokens and answers. */
export class MountClient {
  readonly cloud: Cloud;
  readonly source: CredentialSource;
  readonly answers = new LookupCache();
  readonly resources: ResourceApi;
  /** Access tokens for the resource manager and for Graph. */
  readonly tokens: AccessTokens;
  readonly #httpClient: HttpClient;
  readonly #options: MountClientOptions;

  /** Throws `bad_gateway` if the configuration has no usable credentials. */
  constructor(options: MountClientOptions) {
    const { settings, secret, environment } = options;
    this.cloud = clouds[settings.environment];
    this.source = credentialSource(settings, secret, environment);
    this.#options = options;
    this.#httpClient = httpClientOf(options, this.cloud, this.source);
    this.tokens = new AccessTokens((scope) => this.#credential(this.source).request(scope));
    this.resources = new ResourceApi({
      credential: this.tokens,
      endpoint: this.cloud.resourceManager,
      httpClient: this.#httpClient,
    });
  }

  /** The passwords of the application. */
  get passwords(): ApplicationPasswords {
    return new ApplicationPasswords({
      credential: this.tokens,
      endpoint: this.cloud.graph,
      httpClient: this.#httpClient,
      clientId: this.source.clientId,
    });
  }

  /** Requests a token with another secret of the same application. Throws what a wrong secret causes. */
  async trySecret(secret: Sealed<string>): Promise<void> {
    const source = { kind: 'secret', clientId: this.source.clientId, secret } as const;
    await this.#credential(source).request(`${this.cloud.resourceManager}/.default`);
  }

  /** A new one for each request, because one handles one request at a time. */
  #credential(source: CredentialSource): SdkCredential {
    const { settings, assertion } = this.#options;
    return new SdkCredential({
      source,
      tenantId: settings.tenant_id,
      authority: this.cloud.authority,
      httpClient: this.#httpClient,
      assertion,
    });
  }
}

function httpClientOf(
  { urls, debugLog, settings }: MountClientOptions,
  cloud: Cloud,
  source: CredentialSource,
): HttpClient {
  const secrets = () => (source.kind === 'secret' ? [source.secret.reveal()] : []);
  const bounded = boundedClient(detoursOf(urls, cloud));
  const logged = debugLog === undefined ? bounded : loggingClient(bounded, debugLog, secrets);
  return retryingClient(logged, {
    maxRetries: settings.max_retries,
    retryDelayMs: settings.retry_delay * 1_000,
    maxRetryDelayMs: settings.max_retry_delay * 1_000,
    budgetMs: requestBudgetMs,
  });
}

const detoursOf = (urls: ProviderUrls, cloud: Cloud): OriginOverride[] =>
  [
    { origin: cloud.authority, to: urls.authorityUrl, forwardsHost: false },
    { origin: cloud.resourceManager, to: urls.resourceManagerUrl, forwardsHost: true },
    { origin: cloud.graph, to: urls.graphUrl, forwardsHost: true },
    { origin: metadataOrigin, to: urls.metadataUrl, forwardsHost: false },
  ].flatMap(({ to, ...detour }) => (to === undefined ? [] : [{ ...detour, to }]));
