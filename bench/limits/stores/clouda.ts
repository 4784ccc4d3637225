import { randomUUID } from 'node:crypto';
import { CreateSecretCommand, PutSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { storeClient } from '../store-client.ts';
import { credential, type StoreAddress, type StoreClient } from './store-client.ts';

/** A put is one call. */
export function cloudaClient(address: StoreAddress): StoreClient {
  const client = storeClient({
    endpoint: address.endpoint,
    region: 'eu-west-1',
    accessKeyId: credential(address, 'accessKeyId'),
    secretAccessKey: credential(address, 'secretAccessKey'),
  });
  const Tags = [{ Key: 'bench', Value: 'limit' }];
  return {
    create: async (Name, SecretString) => {
      await client.send(
        new CreateSecretCommand({ Name, SecretString, ClientRequestToken: randomUUID(), Tags }),
      );
    },
    put: async (SecretId, SecretString) => {
      await client.send(
        new PutSecretValueCommand({ SecretId, SecretString, ClientRequestToken: randomUUID() }),
      );
    },
  };
}
