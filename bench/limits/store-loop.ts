// Only calls the store with the provider's client: receives jobs from its parent process, and returns the figures.
import { randomUUID } from 'node:crypto';
import {
  CreateSecretCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { answerJobs } from '../load/child.ts';
import { forEach } from '../system/api-client.ts';
import type { StoreAccess } from './store-access.ts';
import { storeClient } from './store-client.ts';

export interface StoreJob {
  access: StoreAccess;
  operation: 'create' | 'put';
  names: string[];
  value: string;
  concurrency: number;
}

export interface StoreResult {
  seconds: number;
  /** Duration of each call. */
  milliseconds: number[];
}

let client: SecretsManagerClient | undefined;

async function run({ access, operation, names, value, concurrency }: StoreJob): Promise<StoreResult> {
  const opened = client ?? storeClient(access);
  client = opened;
  const milliseconds: number[] = [];
  const began = performance.now();
  await forEach(names, concurrency, async (name) => {
    const called = performance.now();
    await call(opened, operation, name, value);
    milliseconds.push(performance.now() - called);
  });
  return { seconds: (performance.now() - began) / 1_000, milliseconds };
}

function call(opened: SecretsManagerClient, operation: StoreJob['operation'], name: string, value: string) {
  const ClientRequestToken = randomUUID();
  if (operation === 'put')
    return opened.send(
      new PutSecretValueCommand({ SecretId: name, SecretString: value, ClientRequestToken }),
    );
  const Tags = [{ Key: 'bench', Value: 'limit' }];
  return opened.send(new CreateSecretCommand({ Name: name, SecretString: value, ClientRequestToken, Tags }));
}

answerJobs(run);
