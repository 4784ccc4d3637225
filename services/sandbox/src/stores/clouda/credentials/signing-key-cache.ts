import { createHash, createHmac, createSecretKey, type Hash, type Hmac, type KeyObject } from 'node:crypto';
import { getSigningKey } from '@smithy/signature-v4';
import { LRUCache } from 'lru-cache';
import type { Signer } from './access-keys.ts';

const cache = new LRUCache<string, KeyObject>({ max: 500 });

/** The signing key for a signer, day, region and service. Cached, because deriving it takes five hashes. */
export async function signingKey(
  signer: Signer,
  date: string,
  region: string,
  service: string,
): Promise<KeyObject> {
  const cacheKey = `${signer.secretAccessKey}/${date}/${region}/${service}`;
  const cached = cache.get(cacheKey);
  if (cached) return cached;
  const key = createSecretKey(await getSigningKey(Sha256, signer, date, region, service));
  cache.set(cacheKey, key);
  return key;
}

/** SHA-256 with the interface that the signing library expects. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }

  update(chunk: string | Uint8Array): void {
    this.#hash.update(chunk);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {}
}

function bytesOf(secret: string | ArrayBuffer | ArrayBufferView): Uint8Array {
  if (typeof secret === 'string') return Buffer.from(secret);
  return ArrayBuffer.isView(secret)
    ? new Uint8Array(secret.buffer, secret.byteOffset, secret.byteLength)
    : new Uint8Array(secret);
}
