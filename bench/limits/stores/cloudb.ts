import { createHttpHeaders, type HttpClient } from '@azure/core-rest-pipeline';
import { SecretClient } from '@azure/keyvault-secrets';
import { credential, type StoreAddress, type StoreClient } from './store-client.ts';

const tags = { bench: 'limit' };

/** A put reads the secret, whose tags it keeps, and writes it. */
export async function cloudbClient(address: StoreAddress): Promise<StoreClient> {
  const accessToken = { token: await requestToken(address), expiresOnTimestamp: Date.now() + 3_600_000 };
  const client = new SecretClient(
    credential(address, 'keyVaultUri'),
    { getToken: async () => accessToken },
    {
      serviceVersion: '7.4',
      httpClient: httpClient(address),
      retryOptions: { maxRetries: 0 },
      disableChallengeResourceVerification: true,
    },
  );
  const create = async (name: string, value: string) => {
    await client.setSecret(name, value, { tags });
  };
  return {
    create,
    put: async (name, value) => {
      const { properties } = await client.getSecret(name);
      await client.setSecret(name, value, { tags: { ...properties.tags } });
    },
  };
}

async function requestToken(address: StoreAddress): Promise<string> {
  const url = `${address.sandboxUrl}/directory/${credential(address, 'tenantId')}/oauth2/v2.0/token`;
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: credential(address, 'clientId'),
    client_secret: credential(address, 'clientSecret'),
    scope: 'https://vault.azure.net/.default',
  });
  const response = await fetch(url, { method: 'POST', body });
  if (!response.ok) throw new Error(`the directory issued no token: ${response.status}`);
  return ((await response.json()) as { access_token: string }).access_token;
}

/** Sends the requests to the sandbox instead of the vault. */
const httpClient = ({ endpoint }: StoreAddress): HttpClient => ({
  async sendRequest(request) {
    const { host, pathname, search } = new URL(request.url);
    const response = await fetch(`${endpoint}${pathname}${search}`, {
      method: request.method,
      headers: { ...request.headers.toJSON(), 'x-forwarded-host': host },
      body: (request.body ?? null) as string | null,
    });
    const headers = createHttpHeaders(Object.fromEntries(response.headers));
    return { request, status: response.status, headers, bodyAsText: await response.text() };
  },
});
