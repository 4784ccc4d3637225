import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomFillSync,
} from 'node:crypto';
import type { SealKey } from './key-lines.ts';
import type { KeyRing } from './key-ring.ts';

// Layout of sealed bytes:
//   1 version | 1 length of key id | key id | 12 nonce | 32 wrapped data key | 16 tag | 12 nonce | n ciphertext | 16 tag
const version = 1;
const nonceBytes = 12;
const tagBytes = 16;
const dataKeyBytes = 32;
const wrappedBytes = nonceBytes + dataKeyBytes + tagBytes;

/** Sealed bytes cannot be opened: they are damaged, belong to another row, or were sealed with a key that is not in the ring. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/** The key is there, but the bytes are damaged, or belong to another row or to other settings. */
export class ForeignBytesError extends SealError {}

/**
 * Additional authenticated data: it identifies the row that sealed bytes belong to. `bound`, which is used with bound keys,
 * also contains what else must not change unless the bytes are sealed again.
 */
export type Aad = string | { readonly plain: string; readonly bound: string };

/**
 * Encrypts with a new data key (AES-256-GCM), which is wrapped with the ring's current key. `decrypt` requires the same `aad`.
 */
export function encrypt(keyRing: KeyRing, aad: Aad, plain: Uint8Array): Buffer {
  const random = randomFillSync(Buffer.allocUnsafe(dataKeyBytes + 2 * nonceBytes));
  const dataKey = random.subarray(0, dataKeyBytes);
  const wrapNonce = random.subarray(dataKeyBytes, dataKeyBytes + nonceBytes);
  const nonce = random.subarray(dataKeyBytes + nonceBytes);
  const header = headerOf(keyRing.current);
  const authenticated = associated(header, keyRing.current, aad);
  const wrapped = gcmSeal(keyObjectOf(keyRing.current), wrapNonce, authenticated, dataKey);
  const sealed = gcmSeal(createSecretKey(dataKey), nonce, authenticated, plain);
  dataKey.fill(0);
  return Buffer.concat([header, ...wrapped, ...sealed]);
}

/**
 * Decrypts what `encrypt` returned for the same `aad`.
 * @throws `SealError`, if the bytes need a missing key; `ForeignBytesError`, if they are damaged or belong to another row
 */
export function decrypt(keyRing: KeyRing, aad: Aad, sealed: Uint8Array): Buffer {
  const { header, keyId, wrapped, body } = parseSealed(sealed);
  const key = keyRing.find(keyId);
  if (key === undefined) throw new SealError(`sealed with key ${keyId}, which is not in the key ring`);
  const authenticated = associated(header, key, aad);
  const dataKey = gcmOpen(keyObjectOf(key), wrapped, authenticated);
  const plain = gcmOpen(createSecretKey(dataKey), body, authenticated);
  dataKey.fill(0);
  return plain;
}

/** Number of leading bytes that `sealedWith` reads. */
export const sealedHeaderBytes = 2 + 32;

/** Returns the id of the key that opens these bytes, or the bytes of which these are the first `sealedHeaderBytes`. */
export function sealedWith(sealed: Uint8Array): string {
  const idLength = sealed[1] ?? 0;
  if (sealed[0] !== version || sealed.length < 2 + idLength)
    throw new SealError('not sealed bytes, or of an unknown version');
  return Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength).toString('latin1', 2, 2 + idLength);
}

const keyObjects = new WeakMap<SealKey, KeyObject>();

/** Cached, since a cipher with a key of plain bytes costs four times as much as one with a key object. */
function keyObjectOf(key: SealKey): KeyObject {
  const known = keyObjects.get(key) ?? createSecretKey(key.bytes);
  keyObjects.set(key, known);
  return known;
}

const headerOf = (key: SealKey): Buffer =>
  Buffer.concat([Buffer.from([version, key.id.length]), Buffer.from(key.id, 'latin1')]);

function associated(header: Buffer, { isBound }: SealKey, aad: Aad): Buffer {
  const text = typeof aad === 'string' ? aad : isBound ? aad.bound : aad.plain;
  return Buffer.concat([header, Buffer.from(text, 'utf8')]);
}

function gcmSeal(key: KeyObject, nonce: Uint8Array, aad: Uint8Array, plain: Uint8Array): Uint8Array[] {
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(aad);
  return [nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()];
}

function gcmOpen(key: KeyObject, sealed: Buffer, aad: Uint8Array): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(aad);
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
  const plain = decipher.update(sealed.subarray(nonceBytes, sealed.length - tagBytes));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch (cause) {
    throw new ForeignBytesError('sealed bytes are damaged or belong to another row', { cause });
  }
}

function parseSealed(sealed: Uint8Array) {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const idLength = bytes[1] ?? 0;
  const headerLength = 2 + idLength;
  const shortest = headerLength + wrappedBytes + nonceBytes + tagBytes;
  if (bytes[0] !== version || bytes.length < shortest)
    throw new SealError('not sealed bytes, or of an unknown version');
  return {
    header: bytes.subarray(0, headerLength),
    keyId: bytes.toString('latin1', 2, headerLength),
    wrapped: bytes.subarray(headerLength, headerLength + wrappedBytes),
    body: bytes.subarray(headerLength + wrappedBytes),
  };
}
