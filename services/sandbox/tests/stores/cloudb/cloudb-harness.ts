import { createHttpHeaders, type HttpClient } from '@azure/core-rest-pipeline';
import { SecretClient } from '@azure/keyvault-secrets';
import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { type Sandbox, startSandbox } from '../../../src/sandbox.ts';
import type { CloudBOptions } from '../../../src/stores/cloudb/simulate-cloudb.ts';

type TokenCredential = ConstructorParameters<typeof SecretClient>[1];

/** Sends what is meant for a vault to the sandbox. The client itself requires https, and the sandbox has no certificate. */
const redirectedTo = (sandbox: Sandbox): HttpClient => ({
  async sendRequest(request) {
    const { host, pathname, search } = new URL(request.url);
    const headers = { ...request.headers.toJSON(), 'x-forwarded-host': host };
    const url = `${sandbox.cloudBUrl}${pathname}${search}`;
    const body = request.body as string | null | undefined;
    const response = await fetch(url, { method: request.method, headers, body: body ?? null });
    const received = createHttpHeaders(Object.fromEntries(response.headers));
    return { request, status: response.status, headers: received, bodyAsText: await response.text() };
  },
});

/** Requests a token as the application of the sandbox, over HTTP. */
export async function requestToken(
  sandbox: Sandbox,
  over: Record<string, string> = {},
  tenantId = sandbox.tenantId,
): Promise<Response> {
  const { clientId, clientSecret } = sandbox.credentials.cloudB;
  const sent = {
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    scope: 'https://vault.azure.net/.default',
    ...over,
  };
  const url = `${sandbox.directoryUrl}/${tenantId}/oauth2/v2.0/token`;
  return fetch(url, { method: 'POST', body: new URLSearchParams(sent) });
}

/** Requests tokens for what the vault's challenge says. */
const applicationOf = (sandbox: Sandbox): TokenCredential => ({
  async getToken(scopes) {
    const response = await requestToken(sandbox, { scope: String(scopes) });
    const { access_token: token, expires_in } = (await response.json()) as {
      access_token: string;
      expires_in: number;
    };
    return { token, expiresOnTimestamp: Date.now() + expires_in * 1_000 };
  },
});

/** A credential that has only this token. */
export const holding = (token: string): TokenCredential => ({
  getToken: async () => ({ token, expiresOnTimestamp: Date.now() + 3_600_000 }),
});

/** The provider's own client for a vault of the sandbox, without retries. */
export const cloudBClient = (
  sandbox: Sandbox,
  { vault = 'https://sandbox.vault.azure.net', credential = applicationOf(sandbox) } = {},
): SecretClient =>
  new SecretClient(vault, credential, {
    httpClient: redirectedTo(sandbox),
    retryOptions: { maxRetries: 0 },
  });

/** Matches an error of the provider's client by its status, its code and its inner code. */
export const errorWith = (statusCode: number, code: string, innerCode?: string) =>
  expect.objectContaining({
    statusCode,
    code,
    ...(innerCode === undefined
      ? {}
      : {
          details: {
            error: expect.objectContaining({ innerError: expect.objectContaining({ code: innerCode }) }),
          },
        }),
  });

/** A sandbox and a client for the tests of one file, reset before each test. Its clock moves only by `advance`. */
export function useCloudB(options: CloudBOptions = {}) {
  const startMs = Date.now();
  let offsetMs = 0;
  let sandbox: Sandbox;
  let client: SecretClient;
  beforeAll(async () => {
    sandbox = await startSandbox({
      clock: () => startMs + offsetMs,
      cloudB: { deletionMs: 1_000, recoveryMs: 1_000, purgeMs: 1_000, ...options },
    });
    client = cloudBClient(sandbox);
  });
  afterAll(() => sandbox.stop());
  beforeEach(() => {
    offsetMs = 0;
    sandbox.reset();
  });
  const advance = (ms: number) => {
    offsetMs += ms;
  };
  return {
    sandbox: () => sandbox,
    client: () => client,
    advance,
    /** Deletes a secret, and waits until it is deleted. */
    async remove(name: string) {
      await client.beginDeleteSecret(name);
      advance(1_001);
    },
  };
}
