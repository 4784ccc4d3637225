import { decrypt, encrypt, type KeyRing, type Sealed, seal } from '@secrets/seal';

/** Additional authenticated data: ties the sealed token to its row. */
export const reviewerAad = (mountId: string): string =>
  `login.kubernetes_configs ${mountId} token_reviewer_jwt`;

/** Encrypts the token of a reviewer, bound to its row; null if there is none. */
export const encryptReviewer = (keyRing: KeyRing, mountId: string, token: string): Buffer | null =>
  token === '' ? null : encrypt(keyRing, reviewerAad(mountId), Buffer.from(token));

/** Decrypts it. Throws `SealError` if it belongs to another row. */
export const decryptReviewer = (keyRing: KeyRing, mountId: string, sealed: Uint8Array): Sealed<string> =>
  seal(decrypt(keyRing, reviewerAad(mountId), sealed).toString('utf8'));
