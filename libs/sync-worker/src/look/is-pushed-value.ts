import { canonicalJson, parseExactly } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import type { ValueHash } from '../driver/driver.ts';

/**
 * Whether a text of the store is the value with this hash. JSON is equal in any order of its names, because the hash of an
 * object is that of its canonical form (`SecretText.comparedValue`).
 */
export function isPushedValue(text: Sealed<string>, pushedHash: string, hash: ValueHash): boolean {
  const revealed = text.reveal();
  if (hash.matches(revealed, pushedHash)) return true;
  const canonical = canonicalOf(revealed);
  return canonical !== undefined && hash.matches(canonical, pushedHash);
}

/** Whether two texts are the same value: JSON is equal in any order of its names. */
export function isEqualValue(one: Sealed<string>, other: Sealed<string>): boolean {
  if (one.reveal() === other.reveal()) return true;
  const canonical = canonicalOf(one.reveal());
  return canonical !== undefined && canonical === canonicalOf(other.reveal());
}

function canonicalOf(text: string): string | undefined {
  try {
    const value = parseExactly(text);
    return typeof value === 'object' ? canonicalJson(value) : undefined;
  } catch {
    return undefined; // not JSON
  }
}
