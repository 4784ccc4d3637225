import { X509Certificate } from 'node:crypto';
import { withoutNul } from '@secrets/domain';
import { stringList } from '@secrets/http';
import { z } from 'zod';
import { parsePublicKey } from './static-keys.ts';
import { isTrustedUrl } from './trusted-url.ts';

const maxKeys = 20;
const maxPem = 64 * 1_024;

const text = (max: number) => z.string().trim().max(max).meta(withoutNul);

/** A URL that keys may be fetched from, or none. */
export const trustedUrl = text(2_048)
  .refine((given) => given === '' || isTrustedUrl(given), {
    error: 'must be an https URL without credentials',
  })
  .meta({ pattern: '^(?:https://[a-z0-9-]+(?:[.][a-z0-9-]+)*(?:/[A-Za-z0-9._-]+)*/?)?$' });

const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Certificates in PEM, or none. */
export const certificates = text(maxPem)
  .refine((given) => given === '' || areCertificates(given), { error: 'must be certificates in PEM' })
  .meta({ pattern: '^$' });

function areCertificates(pem: string): boolean {
  const found = pem.match(certificate) ?? [];
  try {
    return found.length > 0 && found.every((one) => new X509Certificate(one).raw.length > 0);
  } catch {
    return false;
  }
}

/** Public keys in PEM. */
export const publicKeys = stringList
  .refine((list) => list.length <= maxKeys, { error: `must have at most ${maxKeys} keys`, abort: true })
  .refine((list) => list.every((pem) => pem.length <= maxPem && parsePublicKey(pem) !== undefined), {
    error: 'must be public keys in PEM: RSA of at least 2,048 bits, P-256, P-384, P-521 or Ed25519',
  })
  .meta({ type: 'array', maxItems: 0, items: { type: 'string' } });
