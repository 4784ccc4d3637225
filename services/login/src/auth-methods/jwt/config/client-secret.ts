import type { Sql } from '@secrets/db';
import { decrypt, encrypt, type KeyRing, type Sealed, seal } from '@secrets/seal';
import { findSealedClientSecret } from '../queries/configs.ts';

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

/** Reads the secret of a mount at its provider; undefined if it has none. */
export async function readClientSecret(
  db: Sql,
  keyRing: KeyRing,
  mountId: string,
): Promise<Sealed<string> | undefined> {
  const sealed = await findSealedClientSecret(db, mountId);
  return sealed && seal(decrypt(keyRing, clientSecretAad(mountId), sealed).toString('utf8'));
}
