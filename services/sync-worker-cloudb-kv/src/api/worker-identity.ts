import { AsyncLocalStorage } from 'node:async_hooks';
import { createDefaultHttpClient, type HttpClient, type PipelineResponse } from '@azure/core-rest-pipeline';
import {
  ChainedTokenCredential,
  EnvironmentCredential,
  ManagedIdentityCredential,
  type TokenCredential,
  WorkloadIdentityCredential,
} from '@azure/identity';
import type { CloudBSettings } from '@secrets/destinations';
import { Fault } from '@secrets/domain';
import { providerFault, retryAfterSeconds } from '@secrets/sync-worker';
import { clouds } from './clouds.ts';

/** The operation that messages name. */
export const tokenRequest = 'requesting a token';
export const noRetries = { retryOptions: { maxRetries: 0 } };

/**
 * Returns the identities of deployed services only: a default chain would also run the programs of developers. Throws
 * `Fault` if the endpoint of an identity is down or throttles, which the SDK reports as it does missing credentials;
 * other errors are the SDK's own.
 */
export function workerIdentity(settings: CloudBSettings): TokenCredential {
  const chain = new ChainedTokenCredential(...identitiesOf(settings).flatMap(ifConfigured));
  return {
    getToken: (scopes, options) =>
      observed.run({ fault: undefined }, async () => {
        try {
          return await chain.getToken(scopes, options);
        } catch (error) {
          throw observed.getStore()?.fault ?? error;
        }
      }),
  };
}

function identitiesOf({ client_id: clientId, tenant_id: tenantId, cloud }: CloudBSettings) {
  const options = {
    ...noRetries,
    httpClient: observedHttpClient,
    authorityHost: clouds[cloud].authority,
    ...(clientId === '' ? {} : { clientId }),
  };
  const identities: (() => TokenCredential)[] = [
    () => new WorkloadIdentityCredential({ ...options, tenantId }),
    () => new ManagedIdentityCredential(options),
  ];
  // Its application is the one in the environment, so it cannot be another one.
  if (clientId === '') identities.unshift(() => new EnvironmentCredential(options));
  return identities;
}

/** Some of the SDK's constructors throw if the environment does not have what they need. */
function ifConfigured(create: () => TokenCredential): TokenCredential[] {
  try {
    return [create()];
  } catch (error) {
    if (isUnavailable(error)) return [];
    throw error;
  }
}

/** Whether the SDK has found no credentials. */
export const isUnavailable = (error: unknown): boolean =>
  /^(CredentialUnavailableError|AggregateAuthenticationError)$/.test((error as Error).name);

/**
 * The temporary fault of the newest response in the course of a request for a token. It is not kept with the HTTP
 * client, because the SDK uses that of the first managed identity for all later ones.
 */
const observed = new AsyncLocalStorage<{ fault: Fault | undefined }>();

const defaultHttpClient = createDefaultHttpClient();

const observedHttpClient: HttpClient = {
  async sendRequest(request) {
    const response = await defaultHttpClient.sendRequest(request);
    const current = observed.getStore();
    if (current !== undefined) current.fault = temporaryFault(response);
    return response;
  },
};

/** https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token#error-handling */
function temporaryFault({ status, headers }: PipelineResponse): Fault | undefined {
  if (status === 410)
    return new Fault('unavailable', `${tokenRequest}: the instance metadata is being updated (status 410)`);
  if (status !== 429 && status < 500) return undefined;
  const wait = retryAfterSeconds(headers.get('retry-after'));
  return providerFault(tokenRequest, { status, retryAfterSeconds: wait }, new Map());
}
