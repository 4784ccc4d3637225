import { credentialsAad } from '@secrets/destinations';
import { Problem } from '@secrets/domain';
import { decrypt, encrypt, ForeignBytesError, type KeyRing } from '@secrets/seal';
import type { DestinationRow } from '../queries/destinations/destinations.ts';

/** The secret fields of a destination in plain text. */
export type Credentials = Record<string, string>;

/**
 * Returns the credentials of a stored destination; empty if it has none. Throws `conflict` if they were sealed for another
 * destination, or for other settings.
 */
export function decryptCredentials(
  keyRing: KeyRing,
  row: Pick<DestinationRow, 'id' | 'type' | 'name' | 'settings' | 'sealedCredentials'>,
): Credentials {
  if (row.sealedCredentials === null) return {};
  try {
    return JSON.parse(decrypt(keyRing, credentialsAad(row), row.sealedCredentials).toString('utf8'));
  } catch (error) {
    if (error instanceof ForeignBytesError) throw changedInDatabase(row);
    throw error;
  }
}

const changedInDatabase = ({ type, name }: Pick<DestinationRow, 'type' | 'name'>): Problem =>
  new Problem(
    'conflict',
    `destination ${type}/${name}: its credentials were stored with other settings, so something else than this service has ` +
      'changed its row; restore the row from a backup, or delete the destination and create it again',
  );

/** Encrypts the credentials of a destination, so that they open only with these settings; null if there are none. */
export const encryptCredentials = (
  keyRing: KeyRing,
  destination: Pick<DestinationRow, 'id' | 'type' | 'settings'>,
  credentials: Credentials,
): Buffer | null =>
  Object.keys(credentials).length === 0
    ? null
    : encrypt(keyRing, credentialsAad(destination), Buffer.from(JSON.stringify(credentials)));
