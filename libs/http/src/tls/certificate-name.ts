import { X509Certificate } from 'node:crypto';

const exactly = { subject: 'never', wildcards: false, partialWildcards: false } as const;

/** Returns an error unless a certificate, in DER, has one of these DNS names. Its subject and its wildcards do not count. */
export function nameMismatch(certificate: Buffer, names: Iterable<string>): Error | undefined {
  const presented = new X509Certificate(certificate);
  for (const name of names) if (presented.checkHost(name, exactly) !== undefined) return undefined;
  return new Error(
    `the certificate has the names ${presented.subjectAltName ?? '(none)'}, expected: ${[...names].join(' or ')}`,
  );
}
