import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { SealKey } from './key-lines.ts';
import type { KeyRing } from './key-ring.ts';

/**
 * Returns a keyed hash of a value, to detect changes without storing the value. It contains the key's id, and can be compared
 * as long as that key is in the ring.
 */
export function keyedHash(
  keyRing: KeyRing,
  purpose: string,
  value: Uint8Array | string,
  keyId = keyRing.current.id,
): string {
  const key = keyRing.find(keyId) ?? keyRing.current;
  return `${key.id}:${createHmac('sha256', hashKeyOf(key, purpose)).update(value).digest('base64url')}`;
}

/** Whether `hash` is the keyed hash of `value`, with whichever key of the ring it was created. */
export const matchesKeyedHash = (
  keyRing: KeyRing,
  purpose: string,
  value: Uint8Array | string,
  hash: string,
): boolean => keyedHash(keyRing, purpose, value, hash.slice(0, hash.indexOf(':'))) === hash;

const hashKeys = new WeakMap<SealKey, Map<string, KeyObject>>();

/** Derives the hash key of a purpose, once per seal key. */
function hashKeyOf(key: SealKey, purpose: string): KeyObject {
  const ofKey = hashKeys.get(key) ?? new Map<string, KeyObject>();
  hashKeys.set(key, ofKey);
  const derive = () => Buffer.from(hkdfSync('sha256', key.bytes, '', `keyed hash: ${purpose}`, 32));
  const known = ofKey.get(purpose) ?? createSecretKey(derive());
  ofKey.set(purpose, known);
  return known;
}
