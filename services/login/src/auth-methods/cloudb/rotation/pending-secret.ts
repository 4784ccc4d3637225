import { decrypt, encrypt, type KeyRing, type Sealed, seal } from '@secrets/seal';

/** Encrypts a secret that is not used yet, bound to its row. */
export const encryptPending = (keyRing: KeyRing, mountId: string, secret: Sealed<string>): Buffer =>
  encrypt(keyRing, pendingSecretAad(mountId), Buffer.from(secret.reveal()));

/** Decrypts it. Throws `SealError` if it belongs to another row. */
export const decryptPending = (keyRing: KeyRing, mountId: string, encrypted: Uint8Array): Sealed<string> =>
  seal(decrypt(keyRing, pendingSecretAad(mountId), encrypted).toString('utf8'));

/** Additional authenticated data: ties the sealed secret to its row. */
export const pendingSecretAad = (mountId: string): string =>
  `login.cloudb_rotations ${mountId} pending_secret`;
