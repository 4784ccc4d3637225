import { Agent } from 'node:http';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import type { StoreAccess } from './store-access.ts';

/** Returns the provider's client with the worker's settings: keep-alive connections, timeouts, no retries. */
export function storeClient(access: StoreAccess): SecretsManagerClient {
  const { endpoint, region, accessKeyId, secretAccessKey } = access;
  return new SecretsManagerClient({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey },
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler({
      httpAgent: new Agent({ keepAlive: true, maxSockets: 50 }),
      connectionTimeout: 5_000,
      requestTimeout: 15_000,
      socketTimeout: 15_000,
    }),
  });
}
