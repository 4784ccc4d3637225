import { Problem } from '@secrets/domain';
import { decrypt, encrypt, type KeyRing, type Sealed, seal } from '@secrets/seal';
import { believedSettings } from '../../../rows/believed-settings.ts';
import type { AuthMethodDeps } from '../../auth-method.ts';
import { configKey } from '../../targets/queries/stored-target.ts';
import { findJwtConfig } from '../queries/configs.ts';
import { type JwtConfig, readJwtConfig } from './config-settings.ts';

/** Additional authenticated data: ties the sealed secret to its row. */
export const clientSecretAad = (mountId: string): string => `login.jwt_configs ${mountId} oidc_client_secret`;

/** Encrypts the secret of a mount at its provider; null if it has none. */
export const sealedClientSecret = (
  keyRing: KeyRing,
  mountId: string,
  secret: string | undefined,
): Buffer | null =>
  secret === undefined || secret === ''
    ? null
    : encrypt(keyRing, clientSecretAad(mountId), Buffer.from(secret));

/**
 * Reads the secret of a mount at the provider of a configuration; undefined if it has none. Throws `unavailable` if another
 * configuration is stored since: its secret must not be sent to the former provider.
 */
export async function readClientSecret(
  { db, rows, keyRing }: Pick<AuthMethodDeps, 'db' | 'rows' | 'keyRing'>,
  mountId: string,
  config: JwtConfig,
): Promise<Sealed<string> | undefined> {
  const row = await findJwtConfig(db, mountId);
  const settings = believedSettings(rows, configKey('login.jwt_configs', mountId), row);
  if (settings === undefined || !isSameClient(readJwtConfig(settings), config))
    throw new Problem('unavailable', 'the configuration of this auth mount is changing; try again');
  const sealed = row?.sealedSecret ?? undefined;
  return sealed && seal(decrypt(keyRing, clientSecretAad(mountId), sealed).toString('utf8'));
}

const isSameClient = (one: JwtConfig, other: JwtConfig): boolean =>
  one.oidc_discovery_url === other.oidc_discovery_url &&
  one.oidc_discovery_ca_pem === other.oidc_discovery_ca_pem &&
  one.oidc_client_id === other.oidc_client_id;
