import { ComputeManagementClient } from '@azure/arm-compute';
import { ManagedServiceIdentityClient } from '@azure/arm-msi';
import { ResourceManagementClient } from '@azure/arm-resources';
import { createHttpHeaders, type HttpClient } from '@azure/core-rest-pipeline';
import { ClientSecretCredential, type TokenCredential } from '@azure/identity';
import type { Sandbox } from '../../../src/sandbox.ts';

/**
 * The endpoints of the sandbox, by the host that a client of the provider means. Its clients require https, and the
 * sandbox has no certificate.
 */
const endpointsOf = (sandbox: Sandbox): Record<string, string> => ({
  'login.microsoftonline.com': sandbox.directoryUrl,
  'management.azure.com': sandbox.resourceManagerUrl,
  'management.chinacloudapi.cn': sandbox.resourceManagerUrl,
});

/** Sends what is meant for the provider to the sandbox. */
const providerHttpClient = (sandbox: Sandbox): HttpClient => ({
  async sendRequest(request) {
    const { host, pathname, search } = new URL(request.url);
    const headers = { ...request.headers.toJSON(), 'x-forwarded-host': host };
    const response = await fetch(`${endpointsOf(sandbox)[host]}${pathname}${search}`, {
      method: request.method,
      headers,
      body: (request.body ?? null) as string | null,
    });
    const received = createHttpHeaders(Object.fromEntries(response.headers));
    return { request, status: response.status, headers: received, bodyAsText: await response.text() };
  },
});

const noRetries = { retryOptions: { maxRetries: 0 } };

/** Options with which the SDK's credentials use the directory of the sandbox. */
export const credentialOptions = (sandbox: Sandbox) => ({
  ...noRetries,
  httpClient: providerHttpClient(sandbox),
  disableInstanceDiscovery: true,
});

/** The directory's application, with its secret. */
export function applicationCredential(sandbox: Sandbox, clientSecret?: string): TokenCredential {
  const { clientId, clientSecret: own } = sandbox.directory.application;
  return new ClientSecretCredential(
    sandbox.tenantId,
    clientId,
    clientSecret ?? own,
    credentialOptions(sandbox),
  );
}

/** The provider's own clients of the resource API, without retries. */
export function resourceClients(
  sandbox: Sandbox,
  {
    credential = applicationCredential(sandbox),
    subscriptionId = sandbox.resourceManager.defaultGroup.subscriptionId,
    retryOptions = noRetries.retryOptions,
    endpoint = 'https://management.azure.com',
  }: { credential?: TokenCredential; subscriptionId?: string; retryOptions?: object; endpoint?: string } = {},
) {
  const options = { retryOptions, endpoint, httpClient: providerHttpClient(sandbox) };
  return {
    compute: new ComputeManagementClient(credential, subscriptionId, options),
    identities: new ManagedServiceIdentityClient(credential, subscriptionId, options),
    resources: new ResourceManagementClient(credential, subscriptionId, options),
  };
}
