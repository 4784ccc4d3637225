import 'reflect-metadata'; // @peculiar/x509 requires it to be loaded first
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  type webcrypto,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';

/** The content of a certificate. */
export interface CertificateRequest {
  /** Host names and IP addresses; the first one is the subject. */
  names: readonly string[];
  isServer: boolean;
  isClient: boolean;
}

/** In PEM. */
export interface Authority {
  certificate: string;
  key: string;
}

const dayMs = 86_400_000;
const authorityDays = 3_650;
const certificateDays = 365;
/** Before the time of issue, for machines whose clocks are behind. */
const marginMs = 3_600_000;

const signing = { name: 'ECDSA', hash: 'SHA-256' };
const curve = { name: 'ECDSA', namedCurve: 'P-256' };

/** Returns a new private key, in PEM. */
export const newPrivateKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();

/**
 * Returns a certificate of an authority, valid for ten years. Those of one key have the same subject, so that each verifies what
 * the other has signed.
 */
export async function authorityCertificate(key: string, now: Date): Promise<string> {
  const keys = cryptoKeys(key);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: `CN=secrets-service ${fingerprint(key)}`,
    ...validity(now, authorityDays),
    signingAlgorithm: signing,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return `${certificate.toString('pem')}\n`;
}

/** Returns a certificate of the owner of a private key, valid for a year. */
export async function issueCertificate(
  { names, isServer, isClient }: CertificateRequest,
  key: string,
  authority: Authority,
  now: Date,
): Promise<string> {
  const issuer = cryptoKeys(authority.key);
  const { publicKey } = cryptoKeys(key);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: `CN=${names[0]}`,
    issuer: new x509.X509Certificate(authority.certificate).subject,
    ...validity(now, certificateDays),
    signingAlgorithm: signing,
    publicKey,
    signingKey: issuer.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(usages({ isServer, isClient })),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value }) as const),
      ),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  return `${certificate.toString('pem')}\n`;
}

/** The purposes of a certificate (RFC 5280, section 4.2.1.12). */
const usages = ({ isServer, isClient }: Pick<CertificateRequest, 'isServer' | 'isClient'>): string[] => [
  ...(isServer ? ['1.3.6.1.5.5.7.3.1'] : []),
  ...(isClient ? ['1.3.6.1.5.5.7.3.2'] : []),
];

/** Days before its end from which on a certificate, and that of the authority, is renewed. */
const renewalDays = { certificate: 30, authority: 2 * certificateDays };

/** Whether the certificate of an authority is of this key, and remains valid for longer than what it signs. */
export function isCurrentAuthority({ certificate, key }: Authority, now: Date): boolean {
  const parsed = new X509Certificate(certificate);
  return parsed.checkPrivateKey(createPrivateKey(key)) && remainingDays(parsed, now) >= renewalDays.authority;
}

/** Whether a certificate says what is requested, belongs to this key, and is not to be renewed yet. */
export function isCurrent(
  certificate: string,
  request: CertificateRequest,
  { key, authority, now }: { key: string; authority: Authority; now: Date },
): boolean {
  const parsed = new X509Certificate(certificate);
  return (
    remainingDays(parsed, now) >= renewalDays.certificate &&
    parsed.checkPrivateKey(createPrivateKey(key)) &&
    parsed.verify(createPublicKey(authority.key)) &&
    String(parsed.keyUsage) === String(usages(request)) &&
    presentedNames(parsed).join() === [...request.names].map(canonical).sort().join()
  );
}

const remainingDays = ({ validTo }: X509Certificate, now: Date): number =>
  (Date.parse(validTo) - now.getTime()) / dayMs;

const presentedNames = ({ subjectAltName = '' }: X509Certificate): string[] =>
  [...subjectAltName.matchAll(/(?:DNS|IP Address):([^,]+)/g)].map(([, name]) => canonical(name!)).sort();

/** A name as all its spellings: Node prints IPv6 addresses in another one. */
const canonical = (name: string): string =>
  isIP(name) === 6 ? new URL(`http://[${name}]`).hostname : name.toLowerCase();

const validity = (now: Date, days: number) => ({
  notBefore: new Date(now.getTime() - marginMs),
  notAfter: new Date(now.getTime() + days * dayMs),
});

/** Positive, as RFC 5280 requires. */
const serialNumber = (): string => `01${randomBytes(15).toString('hex')}`;

const fingerprint = (key: string): string =>
  createHash('sha256')
    .update(createPublicKey(key).export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 8);

function cryptoKeys(key: string): webcrypto.CryptoKeyPair {
  return {
    privateKey: createPrivateKey(key).toCryptoKey(curve, false, ['sign']),
    publicKey: createPublicKey(key).toCryptoKey(curve, true, ['verify']),
  };
}
