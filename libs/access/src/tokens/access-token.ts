import type { Namespace } from '@secrets/caller';
import type { KeyRing } from '@secrets/seal';
import type { CompiledPolicies } from '../policies/compile-policies.ts';
import { compileNamed, type NamedRules } from '../policies/named-policies.ts';
import { type AddressRanges, addressRanges } from './address-ranges.ts';
import { type BatchToken, openBatchToken } from './token.ts';

/** A token as requests are judged by it. */
export interface AccessToken {
  accessor: string | null;
  tokenType: 'service' | 'batch';
  displayName: string;
  entityId: string | null;
  policies: readonly string[];
  namespace: Namespace;
  /** Milliseconds since 1970; undefined for a token that does not end. */
  expiresAt: number | undefined;
  /** Undefined when the token may be used from anywhere. */
  boundTo: AddressRanges | undefined;
  hasLimitedUses: boolean;
  rules: CompiledPolicies;
}

export interface ServiceTokenRow {
  accessor: string;
  display_name: string;
  entity_id: string | null;
  policies: string[];
  namespace_id: string;
  namespace_path: string;
  expires_at: Date | null;
  bound_cidrs: string[];
  uses_left: number | null;
  rules: NamedRules[];
}

export function fromServiceToken(row: ServiceTokenRow): AccessToken {
  return {
    accessor: row.accessor,
    tokenType: 'service',
    displayName: row.display_name,
    entityId: row.entity_id,
    policies: row.policies,
    namespace: { id: row.namespace_id, path: row.namespace_path },
    expiresAt: row.expires_at?.getTime(),
    boundTo: row.bound_cidrs.length === 0 ? undefined : addressRanges(row.bound_cidrs),
    hasLimitedUses: row.uses_left !== null,
    rules: compileNamed(row.policies, row.rules),
  };
}

/** What the database knows about a batch token's surroundings. */
export interface BatchTokenSurroundings {
  namespace_path: string;
  /** Whether the parent still exists; true for a token without one. */
  parent_exists: boolean;
  parent_expires_at: Date | null;
  /** Whether the auth mount that issued it still stands; true for a token that none issued. */
  mount_exists: boolean;
  rules: NamedRules[];
}

/**
 * When a batch token ends, in milliseconds since 1970: at its own end or that of what it was made with, whichever
 * comes first. Undefined when its parent was revoked or the auth mount that issued it disabled.
 */
export function batchTokenExpiry(payload: BatchToken, around: BatchTokenSurroundings): number | undefined {
  if (!around.parent_exists || !around.mount_exists) return undefined;
  const parentEnd = around.parent_expires_at?.getTime() ?? Number.POSITIVE_INFINITY;
  return Math.min(Date.parse(payload.expires_at), parentEnd);
}

/** Opens a batch token's text; what it says needs its surroundings to become a token. */
export const parseBatchToken = (keyRing: KeyRing, text: string) => {
  const payload = openBatchToken(keyRing, text);
  if (payload === undefined) return undefined;
  const toToken = (around: BatchTokenSurroundings): AccessToken | undefined => {
    const expiresAt = batchTokenExpiry(payload, around);
    if (expiresAt === undefined) return undefined;
    return {
      accessor: null,
      tokenType: 'batch',
      displayName: payload.display_name,
      entityId: payload.entity_id,
      policies: payload.policies,
      namespace: { id: payload.namespace_id, path: around.namespace_path },
      expiresAt,
      boundTo: payload.bound_cidrs.length === 0 ? undefined : addressRanges(payload.bound_cidrs),
      hasLimitedUses: false,
      rules: compileNamed(payload.policies, around.rules),
    };
  };
  return { payload, toToken };
};
