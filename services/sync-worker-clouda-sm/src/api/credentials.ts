import type { SecretsManagerClientConfig } from '@aws-sdk/client-secrets-manager';
import { fromNodeProviderChain, fromTemporaryCredentials, fromWebToken } from '@aws-sdk/credential-providers';
import { type DriverContext, refusedCredentials } from '@secrets/sync-worker';
import type { CloudASettings } from '../settings.ts';
import { withFaults } from './call-faults.ts';

/** The client configuration that all of the provider's services share. */
export interface ClientOptions {
  region: string;
  /** Defaults to the provider's own endpoint. */
  endpoint?: string;
  requestHandler: NonNullable<SecretsManagerClientConfig['requestHandler']>;
  maxAttempts: 1;
}

export type Credentials = NonNullable<SecretsManagerClientConfig['credentials']>;
type Provider = Extract<Credentials, (...args: never) => unknown>;

/** With what a destination authenticates, if not with the environment of the worker. */
export interface OwnIdentity extends Pick<DriverContext, 'identityToken' | 'prefix'> {
  keys: Record<string, string>;
  /** For assuming the role; empty for none. */
  externalId: string;
}

const sessionSeconds = 3600;

/**
 * Returns the destination's key pair or, if it has none, the credentials of the worker's environment. With `role_arn`,
 * they are used to assume that role, or an identity token is if the destination has an audience for it; the SDK renews
 * the session five minutes before it expires. Failures are `Fault`s.
 */
export function credentialsFor(
  settings: CloudASettings,
  { keys, identityToken, prefix, externalId }: OwnIdentity,
  link: ClientOptions,
): Credentials {
  if (settings.identity_token_audience !== '')
    return roleOfIdentity(settings, { identityToken, prefix }, link);
  const own = ownCredentials(keys);
  if (settings.role_arn === '') return own;
  const assume = fromTemporaryCredentials({
    masterCredentials: own,
    params: {
      RoleArn: settings.role_arn,
      RoleSessionName: `${prefix}-sync`,
      DurationSeconds: sessionSeconds,
      ...(externalId === '' ? {} : { ExternalId: externalId }),
    },
    clientConfig: link,
  });
  return reportFaults('AssumeRole of role_arn', assume);
}

/** https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html */
function roleOfIdentity(
  { role_arn: roleArn, identity_token_audience: audience, identity_token_ttl: ttlSeconds }: CloudASettings,
  { identityToken, prefix }: Omit<OwnIdentity, 'keys' | 'externalId'>,
  link: ClientOptions,
): Provider {
  return async () => {
    const webIdentityToken = await identityToken({ audience, ttlSeconds });
    const assume = fromWebToken({
      roleArn,
      webIdentityToken,
      roleSessionName: `${prefix}-sync`,
      durationSeconds: sessionSeconds,
      clientConfig: link,
    });
    return withFaults('AssumeRoleWithWebIdentity of role_arn', assume).catch((error: unknown) => {
      throw refusedCredentials(error);
    });
  };
}

/** Whether a destination authenticates with something of its own, not with the environment of the worker. */
export const hasOwnIdentity = (settings: CloudASettings, keys: Record<string, string>): boolean =>
  settings.identity_token_audience !== '' || keyPairOf(keys) !== undefined;

function keyPairOf({
  access_key_id: accessKeyId,
  secret_access_key: secretAccessKey,
}: Record<string, string>) {
  return accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined;
}

function ownCredentials(keys: Record<string, string>): Credentials {
  const pair = keyPairOf(keys);
  if (pair !== undefined) return pair;
  return reportFaults('finding credentials', fromNodeProviderChain({ maxRetries: 0 }));
}

const reportFaults =
  (operation: string, provider: Provider): Provider =>
  (properties) =>
    withFaults(operation, () => provider(properties));
