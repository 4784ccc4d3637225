import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

/** Length of a signature in bytes: HMAC with SHA-256. */
export const signatureBytes = 32;

/** Signs bytes or text with the key of a direction (`InternalKeys.keyFor`). */
export const signatureOf = (key: Buffer, ...parts: readonly (string | Uint8Array)[]): Buffer => {
  const hmac = createHmac('sha256', keyObjectOf(key));
  for (const part of parts) hmac.update(part);
  return hmac.digest();
};

/** Whether a signature is the one of these parts. Takes the same time for every signature. */
export function isSignatureOf(
  signature: Uint8Array,
  key: Buffer,
  ...parts: readonly (string | Uint8Array)[]
): boolean {
  const expected = signatureOf(key, ...parts);
  return signature.length === expected.length && timingSafeEqual(signature, expected);
}

const keyObjects = new WeakMap<Buffer, KeyObject>();

/** Creating a key from bytes for each HMAC costs seven times as much as the HMAC itself, so the key object is cached. */
function keyObjectOf(key: Buffer): KeyObject {
  const keyObject = keyObjects.get(key) ?? createSecretKey(key);
  keyObjects.set(key, keyObject);
  return keyObject;
}
