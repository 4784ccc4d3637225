import { pushedValuePurpose as purpose } from '@secrets/domain';
import { type KeyRing, keyedHash, matchesKeyedHash } from '@secrets/seal';
import type { ValueHash } from '../../driver/driver.ts';

/** The keyed hashes of values that are pushed, or about to be. */
export const valueHash = (keyRing: KeyRing): ValueHash => ({
  of: (value) => keyedHash(keyRing, purpose, value),
  matches: (value, hash) => matchesKeyedHash(keyRing, purpose, value, hash),
});
