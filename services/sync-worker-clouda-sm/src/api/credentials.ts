import type { SecretsManagerClientConfig } from '@aws-sdk/client-secrets-manager';
import { fromNodeProviderChain, fromTemporaryCredentials } from '@aws-sdk/credential-providers';
import type { CloudASettings } from '../settings.ts';
import { withFaults } from './call-faults.ts';

/** The client configuration that all of the provider's services share. */
export interface Link {
  region: string;
  /** Defaults to the provider's own endpoint. */
  endpoint?: string;
  requestHandler: NonNullable<SecretsManagerClientConfig['requestHandler']>;
  maxAttempts: 1;
}

type Credentials = NonNullable<SecretsManagerClientConfig['credentials']>;
type Provider = Extract<Credentials, (...args: never) => unknown>;

/**
 * Returns the destination's key pair or, if it has none, the credentials of the worker's environment. With `role_arn`,
 * they are used to assume that role; the SDK renews the session five minutes before it expires. Failures are `Fault`s.
 */
export function credentialsFor(
  settings: CloudASettings,
  keys: Record<string, string>,
  link: Link,
  prefix: string,
): Credentials {
  const own = ownCredentials(keys);
  if (settings.role_arn === '') return own;
  const assume = fromTemporaryCredentials({
    masterCredentials: own,
    params: {
      RoleArn: settings.role_arn,
      RoleSessionName: `${prefix}-sync`,
      DurationSeconds: 3600,
      ...(settings.external_id === '' ? {} : { ExternalId: settings.external_id }),
    },
    clientConfig: link,
  });
  return reportFaults('AssumeRole of role_arn', assume);
}

function ownCredentials(keys: Record<string, string>): Credentials {
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey } = keys;
  if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey };
  return reportFaults('finding credentials', fromNodeProviderChain({ maxRetries: 0 }));
}

const reportFaults =
  (operation: string, provider: Provider): Provider =>
  (properties) =>
    withFaults(operation, () => provider(properties));
