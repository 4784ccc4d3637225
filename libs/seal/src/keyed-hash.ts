import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { KeyRing, SealKey } from './key-ring.ts';

/**
 * A keyed hash of a value, to tell whether it changed without keeping it. Names its key, so that it stays
 * comparable as long as that key is in the ring.
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

/** Whether `value` is what `hash` was made of, with whichever key made it. */
export const matchesKeyedHash = (
  keyRing: KeyRing,
  purpose: string,
  value: Uint8Array | string,
  hash: string,
): boolean => keyedHash(keyRing, purpose, value, hash.slice(0, hash.indexOf(':'))) === hash;

const hashKeys = new WeakMap<SealKey, Map<string, KeyObject>>();

/** Derived once for each key and purpose. */
function hashKeyOf(key: SealKey, purpose: string): KeyObject {
  const ofKey = hashKeys.get(key) ?? new Map<string, KeyObject>();
  hashKeys.set(key, ofKey);
  const derive = () => Buffer.from(hkdfSync('sha256', key.bytes, '', `keyed hash: ${purpose}`, 32));
  const known = ofKey.get(purpose) ?? createSecretKey(derive());
  ofKey.set(purpose, known);
  return known;
}
