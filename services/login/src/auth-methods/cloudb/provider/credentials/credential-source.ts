import { type Sealed, seal } from '@secrets/seal';
import type { ConfigSettings } from '../../config/config-settings.ts';
import { CredentialsRefused } from './token-problem.ts';

/** The standard variables of the environment, which count where a mount stores nothing. */
export interface EnvironmentCredentials {
  clientId?: string | undefined;
  clientSecret?: string | undefined;
}

/** With what a mount authenticates. */
export type CredentialSource =
  | { kind: 'secret'; clientId: string; secret: Sealed<string> }
  /** An identity token of this service. */
  | { kind: 'federation'; clientId: string }
  /** The identity of the machine or service that this process runs on; with a client ID, a user-assigned one. */
  | { kind: 'managed identity'; clientId: string };

/** The credentials of this service may read what those who configure a mount elsewhere may not. */
const noCredentials =
  'this auth mount has no credentials: set client_id, and client_secret or identity_token_audience. ' +
  'Only mounts of the root and administrative namespaces use those of this service';

/**
 * Chooses the credentials of a mount: federation, its own secret, the secret of the environment, or the managed
 * identity of this service. Throws `bad_gateway` if `client_id` is missing, or if there are none.
 * @param environment undefined for a mount that must not use the credentials of this service
 */
export function credentialSource(
  { client_id, identity_token_audience }: Pick<ConfigSettings, 'client_id' | 'identity_token_audience'>,
  stored: Sealed<string> | undefined,
  environment: EnvironmentCredentials | undefined,
): CredentialSource {
  const clientId = client_id || (environment?.clientId ?? '');
  if (identity_token_audience !== '')
    return { kind: 'federation', clientId: required(clientId, 'identity_token_audience') };
  const secret = stored ?? (environment?.clientSecret ? seal(environment.clientSecret) : undefined);
  if (secret !== undefined) return { kind: 'secret', clientId: required(clientId, 'client_secret'), secret };
  if (environment === undefined) throw new CredentialsRefused(noCredentials);
  return { kind: 'managed identity', clientId };
}

function required(clientId: string, field: string): string {
  if (clientId === '') throw new CredentialsRefused(`client_id is not configured, which ${field} needs`);
  return clientId;
}
