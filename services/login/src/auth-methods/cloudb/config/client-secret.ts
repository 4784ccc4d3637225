import { decrypt, encrypt, type KeyRing, type Sealed, seal } from '@secrets/seal';

/** Encrypts the secret of a mount's configuration, bound to its row. */
export const encryptClientSecret = (keyRing: KeyRing, mountId: string, secret: string): Buffer =>
  encrypt(keyRing, clientSecretAad(mountId), Buffer.from(secret));

/** Decrypts it. Throws `SealError` if it belongs to another row. */
export const decryptClientSecret = (
  keyRing: KeyRing,
  mountId: string,
  encrypted: Uint8Array,
): Sealed<string> => seal(decrypt(keyRing, clientSecretAad(mountId), encrypted).toString('utf8'));

/** What the secret is sealed for. */
export const clientSecretAad = (mountId: string): string => `login.cloudb_configs ${mountId} client_secret`;
