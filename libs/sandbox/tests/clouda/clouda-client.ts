import { SecretsManagerClient, type SecretsManagerClientConfig } from '@aws-sdk/client-secrets-manager';
import type { Sandbox } from '../../src/sandbox.ts';

/** The provider's own client against a sandbox, without retries, for tests. */
export function clientOf(sandbox: Sandbox, more: SecretsManagerClientConfig = {}): SecretsManagerClient {
  return new SecretsManagerClient({
    endpoint: sandbox.cloudAUrl,
    region: 'eu-west-1',
    credentials: sandbox.credentials.cloudA,
    maxAttempts: 1,
    ...more,
  });
}
