import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, importJWK, type JWK } from 'jose';

const MOST_PUBLISHED = 5;

interface KeyPair {
  kid: string;
  privateJwk: JWK;
  publicJwk: JWK;
}

/** A key pair as it is kept. */
export interface KeyRecord {
  kid: string;
  privateJwk: JWK;
  /** False for a rotation after which only this key is published. */
  keepsOlder: boolean;
}

/** The directory's RS256 keys; the newest signs, up to five are published. */
export class SigningKeys {
  #pairs: KeyPair[] = [];
  #stranger: KeyPair | undefined;

  get isEmpty(): boolean {
    return this.#pairs.length === 0;
  }

  /** Makes a key that signs from now on. */
  async rotate(keepsOlder: boolean): Promise<KeyRecord> {
    const { kid, privateJwk } = await makePair();
    const record = { kid, privateJwk, keepsOlder };
    this.take(record);
    return record;
  }

  take({ kid, privateJwk, keepsOlder }: KeyRecord): void {
    const older = keepsOlder ? this.#pairs.slice(0, MOST_PUBLISHED - 1) : [];
    this.#pairs = [{ kid, privateJwk, publicJwk: publicPart(kid, privateJwk) }, ...older];
  }

  /** Newest first. */
  published(): JWK[] {
    return this.#pairs.map(({ publicJwk }) => publicJwk);
  }

  /** Oldest first, so that taking them in turn gives the same order again. */
  records(): KeyRecord[] {
    return this.#pairs.toReversed().map(({ kid, privateJwk }) => ({ kid, privateJwk, keepsOlder: true }));
  }

  /** The newest key's id and its private part for an algorithm. */
  async signer(algorithm: string): Promise<{ kid: string; key: CryptoKey | Uint8Array }> {
    const pair = this.#newest();
    return { kid: pair.kid, key: await importJWK(pair.privateJwk, algorithm) };
  }

  /** A key that was never published, under the newest one's id. */
  async stranger(algorithm: string): Promise<{ kid: string; key: CryptoKey | Uint8Array }> {
    this.#stranger ??= await makePair();
    return { kid: this.#newest().kid, key: await importJWK(this.#stranger.privateJwk, algorithm) };
  }

  /** The newest public key in PEM, as one would misuse it for an HMAC. */
  async publicPem(): Promise<string> {
    const key = await importJWK(this.#newest().publicJwk, 'RS256', { extractable: true });
    return exportSPKI(key as CryptoKey);
  }

  #newest(): KeyPair {
    const [pair] = this.#pairs;
    if (!pair) throw new Error('the directory has no key yet');
    return pair;
  }
}

async function makePair(): Promise<KeyPair> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const privateJwk = await exportJWK(privateKey);
  const kid = crypto.randomUUID().replaceAll('-', '');
  return { kid, privateJwk, publicJwk: publicPart(kid, privateJwk) };
}

function publicPart(kid: string, { kty, n, e }: JWK): JWK {
  return { kty, use: 'sig', kid, x5t: kid, n, e } as JWK;
}
