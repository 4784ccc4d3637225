import type { Namespace } from '@secrets/caller';
import type { KeyRing } from '@secrets/seal';
import type { CompiledPolicies } from '../policies/compile-policies.ts';
import { compileNamed, type NamedRules } from '../policies/named-policies.ts';
import { type AddressRanges, addressRanges } from './address-ranges.ts';
import { areWithinLimit } from './identity-policies.ts';
import { type BatchToken, openBatchToken } from './token.ts';

/** The properties of a token that decide about requests. */
export interface AccessToken {
  accessor: string | null;
  tokenType: 'service' | 'batch';
  displayName: string;
  entityId: string | null;
  policies: readonly string[];
  /** Of its entity and the groups of that. */
  identityPolicies: readonly string[];
  namespace: Namespace;
  /** Milliseconds since 1970; undefined if the token does not expire. */
  expiresAt: number | undefined;
  /** Undefined if the token can be used from any address. */
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
  /** Null if the entity does not exist or is disabled; also for a token without an entity. */
  identity_policies: string[] | null;
  rules: NamedRules[];
}

/** The token of a row. Undefined if its entity does not exist or is disabled, or has too many policies. */
export function fromServiceToken(row: ServiceTokenRow): AccessToken | undefined {
  const identityPolicies = identityPoliciesOf(row.entity_id, row.identity_policies);
  if (identityPolicies === undefined) return undefined;
  return {
    accessor: row.accessor,
    tokenType: 'service',
    displayName: row.display_name,
    entityId: row.entity_id,
    policies: row.policies,
    identityPolicies,
    namespace: { id: row.namespace_id, path: row.namespace_path },
    expiresAt: row.expires_at?.getTime(),
    boundTo: row.bound_cidrs.length === 0 ? undefined : addressRanges(row.bound_cidrs),
    hasLimitedUses: row.uses_left !== null,
    rules: compileNamed([...row.policies, ...identityPolicies], row.rules),
  };
}

function identityPoliciesOf(entityId: string | null, read: string[] | null): readonly string[] | undefined {
  if (entityId === null) return [];
  return read !== null && areWithinLimit(read) ? read.filter((name) => name !== 'root') : undefined;
}

/** The state in the database that a batch token depends on. */
export interface BatchTokenSurroundings {
  namespace_path: string;
  /** Whether the parent still exists; true for a token without one. */
  parent_exists: boolean;
  parent_expires_at: Date | null;
  /** Whether the auth mount that issued it still exists; true for a token not issued by one. */
  mount_exists: boolean;
  /** Null if the entity does not exist or is disabled; also for a token without an entity. */
  identity_policies: string[] | null;
  rules: NamedRules[];
}

/**
 * When a batch token expires, in milliseconds since 1970: with its own TTL or its parent, whichever comes first.
 * Undefined if its parent was revoked or the auth mount that issued it was disabled.
 */
export function batchTokenExpiry(payload: BatchToken, state: BatchTokenSurroundings): number | undefined {
  if (!state.parent_exists || !state.mount_exists) return undefined;
  const parentExpiry = state.parent_expires_at?.getTime() ?? Number.POSITIVE_INFINITY;
  return Math.min(Date.parse(payload.expires_at), parentExpiry);
}

/** Decrypts a batch token. `toToken` completes its payload with the state in the database. */
export const parseBatchToken = (keyRing: KeyRing, text: string) => {
  const payload = openBatchToken(keyRing, text);
  if (payload === undefined) return undefined;
  const toToken = (state: BatchTokenSurroundings): AccessToken | undefined => {
    const expiresAt = batchTokenExpiry(payload, state);
    const identityPolicies = identityPoliciesOf(payload.entity_id, state.identity_policies);
    if (expiresAt === undefined || identityPolicies === undefined) return undefined;
    return {
      accessor: null,
      tokenType: 'batch',
      displayName: payload.display_name,
      entityId: payload.entity_id,
      policies: payload.policies,
      identityPolicies,
      namespace: { id: payload.namespace_id, path: state.namespace_path },
      expiresAt,
      boundTo: payload.bound_cidrs.length === 0 ? undefined : addressRanges(payload.bound_cidrs),
      hasLimitedUses: false,
      rules: compileNamed([...payload.policies, ...identityPolicies], state.rules),
    };
  };
  return { payload, toToken };
};
