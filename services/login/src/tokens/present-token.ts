import type { Sealed } from '@secrets/seal';
import type { StoredToken } from '../queries/tokens/stored-tokens.ts';
import type { FoundBatchToken } from './find-token.ts';
import type { IssuedToken } from './issue-token.ts';
import { effectiveExpiry, secondsLeft } from './token-lifetime.ts';

/** The `auth` object of a response (docs/conventions/access.md#auth-object): the only place where a token leaves the service. */
export const presentAuth = (issued: IssuedToken): Record<string, unknown> => ({
  client_token: issued.token?.reveal() ?? '',
  accessor: issued.accessor ?? '',
  policies: [...new Set([...issued.policies, ...issued.identityPolicies])].sort(),
  token_policies: issued.policies,
  identity_policies: issued.identityPolicies,
  metadata: issued.metadata,
  lease_duration: issued.leaseSeconds,
  renewable: issued.renewable,
  entity_id: issued.entityId ?? '',
  token_type: issued.type,
  orphan: issued.orphan,
  num_uses: shownUses(issued.uses),
});

/** 0 means any number. A token that is used for the last time has none left, which Vault shows as -1. */
const shownUses = (uses: number | null): number => (uses === 0 ? -1 : (uses ?? 0));

const unixSeconds = (date: Date): number => Math.floor(date.getTime() / 1000);

/** Absent in the root namespace: clients put it before the paths of their requests. */
const namespaceName = (path: string) => (path === '' ? {} : { namespace_path: `${path}/` });

/** A lookup of a stored token. `sent` is its text, if the request contained it: only its hash is stored. */
export const presentToken = (
  token: StoredToken,
  now: Date,
  sent?: Sealed<string>,
): Record<string, unknown> => ({
  id: sent?.reveal() ?? '',
  accessor: token.accessor,
  type: 'service',
  display_name: token.displayName,
  path: token.creationPath,
  ...namespaceName(token.namespacePath),
  policies: token.policies,
  identity_policies: token.identityPolicies,
  meta: token.metadata,
  entity_id: token.entityId ?? '',
  orphan: token.parentAccessor === null,
  renewable: token.renewable,
  ttl: secondsLeft(effectiveExpiry(token), now),
  creation_ttl: token.ttlSeconds,
  explicit_max_ttl: token.explicitMaxTtlSeconds,
  ...(token.periodSeconds > 0 ? { period: token.periodSeconds } : {}),
  ...(token.boundCidrs.length > 0 ? { bound_cidrs: token.boundCidrs } : {}),
  ...(token.roleName === null ? {} : { role: token.roleName }),
  num_uses: shownUses(token.usesLeft),
  creation_time: unixSeconds(token.createdAt),
  issue_time: token.createdAt.toISOString(),
  expire_time: effectiveExpiry(token)?.toISOString() ?? null,
  ...(token.renewedAt === null
    ? {}
    : { last_renewal_time: unixSeconds(token.renewedAt), last_renewal: token.renewedAt.toISOString() }),
});

/** A lookup of a batch token: its content, and its text, which the request contained. */
export const presentBatchToken = (
  { payload: token, namespacePath, identityPolicies, expiresAt }: FoundBatchToken,
  now: Date,
  sent: Sealed<string>,
): Record<string, unknown> => ({
  id: sent.reveal(),
  accessor: '',
  type: 'batch',
  display_name: token.display_name,
  path: token.creation_path,
  ...namespaceName(namespacePath),
  policies: token.policies,
  identity_policies: identityPolicies,
  meta: token.metadata,
  entity_id: token.entity_id ?? '',
  orphan: token.parent_accessor === null,
  renewable: false,
  ttl: secondsLeft(expiresAt, now),
  creation_ttl: secondsLeft(new Date(token.expires_at), new Date(token.created_at)),
  explicit_max_ttl: 0,
  ...(token.bound_cidrs.length > 0 ? { bound_cidrs: token.bound_cidrs } : {}),
  num_uses: 0,
  creation_time: unixSeconds(new Date(token.created_at)),
  issue_time: token.created_at,
  expire_time: expiresAt.toISOString(),
});
