import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import {
  errors,
  type FlattenedJWSInput,
  flattenedVerify,
  importSPKI,
  type JWTVerifyGetKey,
  type CryptoKey as PublicKey,
} from 'jose';

/** Curves of keys, and the algorithms that sign with them: https://www.rfc-editor.org/rfc/rfc7518#section-3.4. */
const algorithmOfCurve: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/**
 * Parses a public key or a certificate in PEM. Returns undefined for anything else: private keys, keys of other types, and RSA
 * keys of less than 2,048 bits.
 */
export function parsePublicKey(pem: string): KeyObject | undefined {
  if (!/^-----BEGIN (?:PUBLIC KEY|RSA PUBLIC KEY|CERTIFICATE)-----/.test(pem.trim())) return undefined;
  try {
    const key = createPublicKey(pem);
    return fits(key) === undefined ? undefined : key;
  } catch {
    return undefined;
  }
}

/** Whether a key can verify signatures of an algorithm; undefined for a key that is not accepted at all. */
function fits({
  asymmetricKeyType,
  asymmetricKeyDetails = {},
}: KeyObject): ((algorithm: string) => boolean) | undefined {
  const { modulusLength = 0, namedCurve = '' } = asymmetricKeyDetails;
  if (asymmetricKeyType === 'rsa' && modulusLength >= 2_048) return (algorithm) => /^[RP]S/.test(algorithm);
  if (asymmetricKeyType === 'ed25519') return (algorithm) => algorithm === 'EdDSA';
  const own = asymmetricKeyType === 'ec' ? algorithmOfCurve[namedCurve] : undefined;
  return own === undefined ? undefined : (algorithm) => algorithm === own;
}

/** The hash of a public key, by which it is recognized (`thumbprints`). */
const thumbprint = (key: KeyObject): string =>
  createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64url');

const ofImported = new WeakMap<object, string>();

/** The thumbprint of a key that a configuration contained; undefined for any other. */
export const thumbprintOf = (key: object): string | undefined => ofImported.get(key);

/** The thumbprints of keys in PEM that a configuration contains. */
export const thumbprints = (pems: readonly string[]): string[] =>
  pems.flatMap((pem) => parsePublicKey(pem) ?? []).map(thumbprint);

/** Keys that a configuration contains. They have no names: of several, the one that verifies the signature counts. */
export class StaticKeys {
  readonly #keys: readonly KeyObject[];
  readonly #imported = new Map<string, Promise<readonly PublicKey[]>>();

  constructor(pems: readonly string[]) {
    this.#keys = pems.flatMap((pem) => parsePublicKey(pem) ?? []);
  }

  /** Finds the key that signed a token, for `jwtVerify`. */
  readonly find: JWTVerifyGetKey = async ({ alg }, token) => {
    const candidates = await this.#keysFor(alg!);
    if (candidates.length > 1) for (const key of candidates) if (await hasSigned(key, token)) return key;
    const [only] = candidates;
    if (only === undefined) throw new errors.JWKSNoMatchingKey();
    return only;
  };

  #keysFor(algorithm: string): Promise<readonly PublicKey[]> {
    const known = this.#imported.get(algorithm) ?? this.#import(algorithm);
    this.#imported.set(algorithm, known);
    return known;
  }

  #import(algorithm: string): Promise<readonly PublicKey[]> {
    const fitting = this.#keys.filter((key) => fits(key)?.(algorithm));
    return Promise.all(
      fitting.map(async (key) => {
        const imported = await importSPKI(key.export({ type: 'spki', format: 'pem' }) as string, algorithm);
        ofImported.set(imported, thumbprint(key));
        return imported;
      }),
    );
  }
}

const hasSigned = (key: PublicKey, token: FlattenedJWSInput): Promise<boolean> =>
  flattenedVerify(token, key).then(
    () => true,
    () => false,
  );
