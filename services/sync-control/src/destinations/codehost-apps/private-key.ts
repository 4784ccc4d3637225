import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { invalid } from '@secrets/domain';

/** A private key of an application, and what identifies it. */
export interface AppPrivateKey {
  /** PKCS#8. */
  pem: string;
  /** As the code host shows it. */
  fingerprint: string;
}

/** RS256, with which the application signs, needs it: RFC 7518, section 3.3. */
const minBits = 2048;

/**
 * Throws `invalid`, without any part of the text, if it is not an RSA private key in PEM (PKCS#1 or PKCS#8) without a
 * passphrase.
 */
export function parsePrivateKey(text: string): AppPrivateKey {
  if (text.startsWith('@'))
    throw invalid(
      'private_key: begins with @, but files are not read on behalf of a request; set the content of the file',
    );
  const key = readKey(text);
  if (key?.asymmetricKeyType !== 'rsa')
    throw invalid('private_key: must be an RSA private key in PEM (PKCS#1 or PKCS#8) without a passphrase');
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < minBits)
    throw invalid(`private_key: must have at least ${minBits} bits`);
  return { pem: String(key.export({ type: 'pkcs8', format: 'pem' })), fingerprint: fingerprintOf(key) };
}

function readKey(text: string): KeyObject | undefined {
  if (!/-----BEGIN (RSA )?PRIVATE KEY-----/.test(text)) return undefined;
  try {
    return createPrivateKey({ key: text, format: 'pem' });
  } catch {
    return undefined; // the reason may contain a part of the key
  }
}

/**
 * https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/managing-private-keys-for-github-apps#verifying-private-keys
 */
const fingerprintOf = (key: KeyObject): string => {
  const der = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return `SHA256:${createHash('sha256').update(der).digest('base64')}`;
};
