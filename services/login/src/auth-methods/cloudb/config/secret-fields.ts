import { decrypt, encrypt, type KeyRing, type Sealed, seal } from '@secrets/seal';
import { type ConfigPatch, configFields, type SecretField } from './config-settings.ts';

/** The column of `login.cloudb_configs` that holds a secret field of a mount's configuration, encrypted. */
export const columnOf = (field: SecretField): string => `sealed_${field}`;

/** Encrypts a secret field of a mount's configuration, bound to its row. */
export const encryptSecret = (
  keyRing: KeyRing,
  mountId: string,
  field: SecretField,
  secret: string,
): Buffer => encrypt(keyRing, secretAad(mountId, field), Buffer.from(secret));

/** Decrypts it. Throws `SealError` if it belongs to another row or field. */
export const decryptSecret = (
  keyRing: KeyRing,
  mountId: string,
  field: SecretField,
  encrypted: Uint8Array,
): Sealed<string> => seal(decrypt(keyRing, secretAad(mountId, field), encrypted).toString('utf8'));

/** Additional authenticated data: ties the sealed secret to its row. */
export const secretAad = (mountId: string, field: SecretField): string =>
  `login.cloudb_configs ${mountId} ${field}`;

/** Secret fields to write, encrypted; null deletes the stored one. Those that are absent are kept. */
export type SealedSecrets = Partial<Record<SecretField, Buffer | null>>;

/** Encrypts the secret fields of a request. */
export const sealedSecrets = (keyRing: KeyRing, mountId: string, body: ConfigPatch): SealedSecrets =>
  Object.fromEntries(
    configFields.secretNames.flatMap((field) => {
      const secret = body[field];
      if (secret === undefined) return [];
      return [
        [field, secret === '' || secret === null ? null : encryptSecret(keyRing, mountId, field, secret)],
      ];
    }),
  );
