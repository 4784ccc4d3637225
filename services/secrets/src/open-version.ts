import { decodeSecretData, type SecretData, versionAad } from '@secrets/domain';
import { decrypt, type KeyRing, type Sealed, seal } from '@secrets/seal';

/** A sealed value and where it belongs. */
export interface SealedVersion {
  mountId: string;
  path: string;
  versionId: string;
  sealed: Uint8Array;
}

/** The value of a version. Throws `SealError` when it is damaged, moved, or sealed with an unknown key. */
export const openVersion = (keyRing: KeyRing, { sealed, ...location }: SealedVersion): Sealed<SecretData> =>
  seal(decodeSecretData(decrypt(keyRing, versionAad(location), sealed)));
