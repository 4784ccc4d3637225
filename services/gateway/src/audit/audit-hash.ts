import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';
import type { InternalKeys } from '@secrets/caller';

/**
 * The keyed hashes that replace tokens and accessors in the audit log: whoever knows a token can find its requests, but
 * not the reverse.
 */
export interface AuditHash {
  /** `hmac-sha256:` and the HMAC in hex. */
  of(text: string): string;
  ofCaller(token: string | undefined, accessor: string | null): HashedCaller;
}

interface HashedCaller {
  token: string | null;
  accessor: string | null;
}

const maxRemembered = 10_000;

/**
 * Returns the hashes of an installation. Their key is derived from one that every gateway has, so that all of them
 * write the same hash. Those of a service token are remembered by its accessor, because an HMAC is a measurable part of
 * the cost of a request.
 */
export function auditHash(keys: InternalKeys): AuditHash {
  const derived = hkdfSync('sha256', keys.keyFor('gateway', 'login'), '', 'audit log', 32);
  const key = createSecretKey(Buffer.from(derived));
  const of = (text: string) => `hmac-sha256:${createHmac('sha256', key).update(text).digest('hex')}`;
  const hashed = (text: string | null | undefined) => (typeof text === 'string' ? of(text) : null);
  const remembered = new Map<string, HashedCaller>();
  return {
    of,
    ofCaller: (token, accessor) => {
      const known = accessor === null ? undefined : remembered.get(accessor);
      if (known !== undefined) return known;
      const caller = { token: hashed(token), accessor: hashed(accessor) };
      if (remembered.size >= maxRemembered) remembered.clear();
      if (accessor !== null) remembered.set(accessor, caller);
      return caller;
    },
  };
}
