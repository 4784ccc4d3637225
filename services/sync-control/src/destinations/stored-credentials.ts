import { credentialsAad } from '@secrets/domain';
import { decrypt, encrypt, type KeyRing } from '@secrets/seal';
import type { DestinationRow } from '../queries/destinations/destinations.ts';

/** The secret fields of a destination in plain text. */
export type Credentials = Record<string, string>;

/** Returns the credentials of a stored destination; empty if it has none. */
export const decryptCredentials = (
  keyRing: KeyRing,
  { id, sealedCredentials }: Pick<DestinationRow, 'id' | 'sealedCredentials'>,
): Credentials =>
  sealedCredentials === null
    ? {}
    : JSON.parse(decrypt(keyRing, credentialsAad(id), sealedCredentials).toString('utf8'));

/** Encrypts the credentials of the destination with this ID; null if there are none. */
export const encryptCredentials = (keyRing: KeyRing, id: string, credentials: Credentials): Buffer | null =>
  Object.keys(credentials).length === 0
    ? null
    : encrypt(keyRing, credentialsAad(id), Buffer.from(JSON.stringify(credentials)));
