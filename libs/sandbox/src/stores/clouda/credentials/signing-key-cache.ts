import { createHash, createHmac, createSecretKey, type Hash, type Hmac, type KeyObject } from 'node:crypto';
import { getSigningKey } from '@smithy/signature-v4';
import type { Signer } from './access-keys.ts';

const MOST_KEPT = 500;

const kept = new Map<string, KeyObject>();

/** The key that signs for one signer, day, region and service; derived once, since that costs five hashes. */
export async function derivedKey(
  signer: Signer,
  date: string,
  region: string,
  service: string,
): Promise<KeyObject> {
  const place = `${signer.secretAccessKey}/${date}/${region}/${service}`;
  const present = kept.get(place);
  if (present) return present;
  const key = createSecretKey(await getSigningKey(Sha256, signer, date, region, service));
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(place, key);
  return key;
}

/** The hash in the shape in which the signing library takes it. */
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
