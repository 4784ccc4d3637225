import {
  CreateSecretCommand,
  type CreateSecretCommandInput,
  DeleteSecretCommand,
  type DeleteSecretCommandInput,
  DescribeSecretCommand,
  GetSecretValueCommand,
  type GetSecretValueCommandInput,
  PutSecretValueCommand,
  type PutSecretValueCommandInput,
  SecretsManagerClient,
  type SecretsManagerClientConfig,
} from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { useStarted } from '../../../../../libs/testing/src/use-started.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox.ts';

/** The provider's own client for a sandbox, without retries. */
export function cloudAClient(
  sandbox: Sandbox,
  config: SecretsManagerClientConfig = {},
): SecretsManagerClient {
  return new SecretsManagerClient({
    endpoint: sandbox.cloudAUrl,
    region: 'eu-west-1',
    credentials: sandbox.credentials.cloudA,
    maxAttempts: 1,
    ...config,
  });
}

/** A sandbox and a client for the tests of one file, reset before each test. */
export function useSandbox(): { sandbox: Sandbox; client: SecretsManagerClient } {
  const sandbox = useStarted(
    () => startSandbox(),
    ({ stop }) => stop(),
  );
  const client = useStarted(
    async () => cloudAClient(sandbox),
    async (opened) => opened.destroy(),
  );
  beforeEach(() => sandbox.reset());
  return { sandbox, client };
}

/** Matches an error of the provider's client by its code. */
export const errorNamed = (name: string) => expect.objectContaining({ name });

/** A sandbox and a client for the tests of one file, reset before each test. Its clock moves only by `advance`. */
export function useCloudA() {
  const startMs = Date.now();
  let offsetMs = 0;
  let sandbox: Sandbox;
  let client: SecretsManagerClient;
  beforeAll(async () => {
    sandbox = await startSandbox({
      clock: () => startMs + offsetMs,
      cloudA: { forcedDeleteMs: 50, replicationMs: 1_000 },
    });
    client = cloudAClient(sandbox);
  });
  afterAll(async () => {
    client.destroy();
    await sandbox.stop();
  });
  beforeEach(() => {
    offsetMs = 0;
    sandbox.reset();
  });
  return {
    store: () => sandbox.cloudA,
    client: () => client,
    clientFor: (region: string) => cloudAClient(sandbox, { region }),
    advance: (ms: number) => {
      offsetMs += ms;
    },
    create: (input: Partial<CreateSecretCommandInput> & { Name: string }) =>
      client.send(new CreateSecretCommand({ SecretString: 'one', ...input })),
    read: (SecretId: string, input: Partial<GetSecretValueCommandInput> = {}) =>
      client.send(new GetSecretValueCommand({ SecretId, ...input })),
    put: (SecretId: string, SecretString: string, input: Partial<PutSecretValueCommandInput> = {}) =>
      client.send(new PutSecretValueCommand({ SecretId, SecretString, ...input })),
    describe: (SecretId: string) => client.send(new DescribeSecretCommand({ SecretId })),
    remove: (SecretId: string, input: Partial<DeleteSecretCommandInput> = {}) =>
      client.send(new DeleteSecretCommand({ SecretId, ...input })),
  };
}
