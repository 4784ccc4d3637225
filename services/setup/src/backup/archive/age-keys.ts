import { type Sealed, seal } from '@secrets/seal';
import { Decrypter, Encrypter } from 'age-encryption';
import { ArchiveError } from './archive-error.ts';

const minPassphraseLength = 16;

interface EncryptionSettings {
  BACKUP_RECIPIENTS: readonly string[];
  BACKUP_PASSPHRASE?: string | undefined;
}

interface DecryptionSettings {
  BACKUP_IDENTITY?: string | undefined;
  BACKUP_PASSPHRASE?: string | undefined;
}

/**
 * Returns what encrypts to the recipients, or with the passphrase (https://age-encryption.org/v1).
 * @throws unless the settings have exactly one of them, and it is usable; the message contains neither
 */
export function encrypterOf({ BACKUP_RECIPIENTS, BACKUP_PASSPHRASE }: EncryptionSettings): Encrypter {
  const encrypter = new Encrypter();
  if (BACKUP_RECIPIENTS.length > 0 === (BACKUP_PASSPHRASE !== undefined))
    throw new ArchiveError('set either BACKUP_RECIPIENTS, or BACKUP_PASSPHRASE_FILE');
  if (BACKUP_PASSPHRASE !== undefined) encrypter.setPassphrase(strong(BACKUP_PASSPHRASE));
  for (const [index, recipient] of BACKUP_RECIPIENTS.entries())
    refusing(
      `part ${index + 1} of BACKUP_RECIPIENTS is not a public key of age, which begins with age1`,
      () => encrypter.addRecipient(recipient),
    );
  return encrypter;
}

function strong(passphrase: string): string {
  if (passphrase.length >= minPassphraseLength) return passphrase;
  throw new ArchiveError(
    `the passphrase of backups needs at least ${minPassphraseLength} characters; create one with: openssl rand -base64 24`,
  );
}

/**
 * Returns what decrypts with the identities (one per line, as `age-keygen` writes them), the passphrase, or either.
 * @throws if the settings have none of them, or an unusable one; the message contains neither
 */
export function decrypterOf({ BACKUP_IDENTITY, BACKUP_PASSPHRASE }: DecryptionSettings): Sealed<Decrypter> {
  const decrypter = new Decrypter();
  if (BACKUP_IDENTITY === undefined && BACKUP_PASSPHRASE === undefined)
    throw new ArchiveError('set BACKUP_IDENTITY_FILE or BACKUP_PASSPHRASE_FILE, which decrypts the archive');
  if (BACKUP_PASSPHRASE !== undefined) decrypter.addPassphrase(BACKUP_PASSPHRASE);
  for (const line of linesOf(BACKUP_IDENTITY ?? ''))
    refusing('BACKUP_IDENTITY contains a line that is not a private key of age', () =>
      decrypter.addIdentity(line),
    );
  return seal(decrypter);
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

function refusing(sentence: string, add: () => void): void {
  try {
    add();
  } catch {
    throw new ArchiveError(sentence);
  }
}
