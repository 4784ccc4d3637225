import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, importJWK, type JWK } from 'jose';

const MAX_PUBLISHED = 5;

interface KeyPair {
  kid: string;
  privateJwk: JWK;
  publicJwk: JWK;
}

/** The persisted form of a key pair. The field names are the journal's format. */
export interface KeyRecord {
  kid: string;
  privateJwk: JWK;
  /** False if the rotation withdrew the older keys. */
  keepsOlder: boolean;
}

/** The directory's RS256 keys. The newest one signs; up to five are published. */
export class SigningKeys {
  #pairs: KeyPair[] = [];
  #unpublished: KeyPair | undefined;

  get isEmpty(): boolean {
    return this.#pairs.length === 0;
  }

  /** Creates the key that signs from now on. */
  async rotate(keepsOlder: boolean): Promise<KeyRecord> {
    const { kid, privateJwk } = await generatePair();
    const record = { kid, privateJwk, keepsOlder };
    this.add(record);
    return record;
  }

  /** Adds a key as the newest one. */
  add({ kid, privateJwk, keepsOlder }: KeyRecord): void {
    const older = keepsOlder ? this.#pairs.slice(0, MAX_PUBLISHED - 1) : [];
    this.#pairs = [{ kid, privateJwk, publicJwk: publicJwkOf(kid, privateJwk) }, ...older];
  }

  /** Newest first. */
  published(): JWK[] {
    return this.#pairs.map(({ publicJwk }) => publicJwk);
  }

  /** Oldest first, so that adding them in turn restores the order. */
  records(): KeyRecord[] {
    return this.#pairs.toReversed().map(({ kid, privateJwk }) => ({ kid, privateJwk, keepsOlder: true }));
  }

  /** The newest key's ID and its private key for an algorithm. */
  async signer(algorithm: string): Promise<{ kid: string; key: CryptoKey | Uint8Array }> {
    const pair = this.#newest();
    return { kid: pair.kid, key: await importJWK(pair.privateJwk, algorithm) };
  }

  /** A key that was never published, with the ID of the newest published key. */
  async unpublishedSigner(algorithm: string): Promise<{ kid: string; key: CryptoKey | Uint8Array }> {
    this.#unpublished ??= await generatePair();
    return { kid: this.#newest().kid, key: await importJWK(this.#unpublished.privateJwk, algorithm) };
  }

  /** The newest public key in PEM format, for tokens that misuse it as an HMAC secret. */
  async publicPem(): Promise<string> {
    const key = await importJWK(this.#newest().publicJwk, 'RS256', { extractable: true });
    return exportSPKI(key as CryptoKey);
  }

  #newest(): KeyPair {
    const [pair] = this.#pairs;
    if (!pair) throw new Error('the directory has no signing key yet');
    return pair;
  }
}

async function generatePair(): Promise<KeyPair> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const privateJwk = await exportJWK(privateKey);
  const kid = crypto.randomUUID().replaceAll('-', '');
  return { kid, privateJwk, publicJwk: publicJwkOf(kid, privateJwk) };
}

function publicJwkOf(kid: string, { kty, n, e }: JWK): JWK {
  return { kty, use: 'sig', kid, x5t: kid, n, e } as JWK;
}
