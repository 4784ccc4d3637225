import { decrypt, encrypt, type KeyRing, type Sealed, seal } from '@secrets/seal';

/** Encrypts the secret of a mount's configuration, bound to its row. */
export const encryptClientSecret = (keyRing: KeyRing, mountId: string, secret: string): Buffer =>
  encrypt(keyRing, aadOf(mountId), Buffer.from(secret));

/** Decrypts it. Throws `SealError` if it belongs to another row. */
export const decryptClientSecret = (
  keyRing: KeyRing,
  mountId: string,
  encrypted: Uint8Array,
): Sealed<string> => seal(decrypt(keyRing, aadOf(mountId), encrypted).toString('utf8'));

const aadOf = (mountId: string): string => `login.cloudb_configs ${mountId} client_secret`;
