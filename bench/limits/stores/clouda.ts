import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import {
  CreateSecretCommand,
  DescribeSecretCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { credential, type StoreAddress, type StoreClient } from './store-client.ts';

/** A put is a look and a write. The client has the worker's settings: keep-alive connections, timeouts, no retries. */
export function cloudaClient(address: StoreAddress): StoreClient {
  const client = new SecretsManagerClient({
    endpoint: address.endpoint,
    region: 'eu-west-1',
    credentials: {
      accessKeyId: credential(address, 'accessKeyId'),
      secretAccessKey: credential(address, 'secretAccessKey'),
    },
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler({
      httpAgent: new Agent({ keepAlive: true, maxSockets: 50 }),
      connectionTimeout: 5_000,
      requestTimeout: 15_000,
      socketTimeout: 15_000,
    }),
  });
  const Tags = [{ Key: 'bench', Value: 'limit' }];
  return {
    create: async (Name, SecretString) => {
      await client.send(
        new CreateSecretCommand({ Name, SecretString, ClientRequestToken: randomUUID(), Tags }),
      );
    },
    put: async (SecretId, SecretString) => {
      await client.send(new DescribeSecretCommand({ SecretId }));
      await client.send(
        new PutSecretValueCommand({ SecretId, SecretString, ClientRequestToken: randomUUID() }),
      );
    },
  };
}
