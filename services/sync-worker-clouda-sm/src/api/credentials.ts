import type { SecretsManagerClientConfig } from '@aws-sdk/client-secrets-manager';
import { fromNodeProviderChain, fromTemporaryCredentials } from '@aws-sdk/credential-providers';
import type { CloudASettings } from '../secret/settings.ts';
import { faulting } from './fault-of.ts';

/** How the provider's services are reached. */
export interface Link {
  region: string;
  /** The provider's own endpoint when absent. */
  endpoint?: string;
  requestHandler: NonNullable<SecretsManagerClientConfig['requestHandler']>;
  maxAttempts: 1;
}

type Credentials = NonNullable<SecretsManagerClientConfig['credentials']>;
type Provider = Extract<Credentials, (...args: never) => unknown>;

/**
 * The destination's key pair or, without one, what the worker's environment has; with `role_arn`, a session of that
 * role begun with them. The SDK asks again five minutes before a session's end. Failures are `Fault`s.
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
  return withFaults(assume, 'AssumeRole of role_arn');
}

function ownCredentials(keys: Record<string, string>): Credentials {
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey } = keys;
  if (accessKeyId && secretAccessKey) return { accessKeyId, secretAccessKey };
  return withFaults(fromNodeProviderChain({ maxRetries: 0 }), 'finding credentials');
}

const withFaults =
  (provider: Provider, doing: string): Provider =>
  (properties) =>
    faulting(doing, () => provider(properties));
