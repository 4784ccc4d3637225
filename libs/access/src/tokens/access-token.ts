import type { Namespace } from '@secrets/caller';
import type { KeyRing } from '@secrets/seal';
import { changeTag } from '../changes/change-tags.ts';
import type { TokenColumns } from '../rows/token-row.ts';
import { type AddressRanges, addressRanges } from './address-ranges.ts';
import { areWithinLimit } from './identity-policies.ts';
import { type BatchToken, openBatchToken } from './token.ts';

/** The properties of a token that decide about requests. */
export interface AccessToken {
  readonly accessor: string | null;
  readonly tokenType: 'service' | 'batch';
  readonly displayName: string;
  readonly entityId: string | null;
  readonly policies: readonly string[];
  /** Of its entity and the groups of that. */
  readonly identityPolicies: readonly string[];
  readonly namespace: Namespace;
  /** Milliseconds since 1970; undefined if the token does not expire. */
  readonly expiresAt: number | undefined;
  /** Undefined if the token can be used from any address. */
  readonly boundTo: AddressRanges | undefined;
  readonly hasLimitedUses: boolean;
  /** Tags of the objects, other than policies, whose changes make the token stale (`changeTag`). */
  readonly tags: readonly string[];
}

/**
 * The tokens from which a token was created, and the auth mounts that issued these, with null for others. Null if there
 * are none.
 */
interface Ancestors {
  ancestors: string[] | null;
  ancestor_mounts: (string | null)[] | null;
}

export interface ServiceTokenRow extends Ancestors, TokenColumns {
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
  /** The auth mount that issued it. */
  mount_id: string | null;
  /** Binds these columns together (`RowGuard`). */
  row_hash: string | null;
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
    tags: [changeTag.token(row.accessor), ...tagsOf(row.namespace_id, row.entity_id, [row.mount_id], row)],
  };
}

function tagsOf(
  namespaceId: string,
  entityId: string | null,
  mounts: readonly (string | null)[],
  { ancestors, ancestor_mounts }: Ancestors,
): string[] {
  const issuers = new Set([...mounts, ...(ancestor_mounts ?? [])]);
  return [
    changeTag.namespace(namespaceId),
    ...(entityId === null ? [] : [changeTag.entity(entityId), changeTag.groups(namespaceId)]),
    ...[...issuers].filter((id) => id !== null).map(changeTag.mount),
    ...(ancestors ?? []).map(changeTag.token),
  ];
}

function identityPoliciesOf(entityId: string | null, read: string[] | null): readonly string[] | undefined {
  if (entityId === null) return [];
  return read !== null && areWithinLimit(read) ? read.filter((name) => name !== 'root') : undefined;
}

/** The state in the database that a batch token depends on. */
export interface BatchTokenState extends Ancestors {
  namespace_path: string;
  /** Whether the parent still exists; true for a token without one. */
  parent_exists: boolean;
  parent_expires_at: Date | null;
  /** Whether the auth mount that issued it still exists; true for a token not issued by one. */
  mount_exists: boolean;
  /** Null if the entity does not exist or is disabled; also for a token without an entity. */
  identity_policies: string[] | null;
  /** The auth mount that issued its parent. */
  parent_mount: string | null;
}

/**
 * When a batch token expires, in milliseconds since 1970: with its own TTL or its parent, whichever comes first.
 * Undefined if its parent was revoked or the auth mount that issued it was disabled.
 */
export function batchTokenExpiry(payload: BatchToken, state: BatchTokenState): number | undefined {
  if (!state.parent_exists || !state.mount_exists) return undefined;
  const parentExpiry = state.parent_expires_at?.getTime() ?? Number.POSITIVE_INFINITY;
  return Math.min(Date.parse(payload.expires_at), parentExpiry);
}

/** Decrypts a batch token. `toToken` completes its payload with the state in the database. */
export const parseBatchToken = (keyRing: KeyRing, text: string) => {
  const payload = openBatchToken(keyRing, text);
  if (payload === undefined) return undefined;
  const toToken = (state: BatchTokenState): AccessToken | undefined => {
    const expiresAt = batchTokenExpiry(payload, state);
    const identityPolicies = identityPoliciesOf(payload.entity_id, state.identity_policies);
    const { namespace_id, entity_id, mount_id, parent_accessor } = payload;
    if (expiresAt === undefined || identityPolicies === undefined) return undefined;
    return {
      accessor: null,
      tokenType: 'batch',
      displayName: payload.display_name,
      entityId: entity_id,
      policies: payload.policies,
      identityPolicies,
      namespace: { id: namespace_id, path: state.namespace_path },
      expiresAt,
      boundTo: payload.bound_cidrs.length === 0 ? undefined : addressRanges(payload.bound_cidrs),
      hasLimitedUses: false,
      tags: [
        ...(parent_accessor === null ? [] : [changeTag.token(parent_accessor)]),
        ...tagsOf(namespace_id, entity_id, [mount_id, state.parent_mount], state),
      ],
    };
  };
  return { payload, toToken };
};
