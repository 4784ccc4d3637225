import type { Caller } from '@secrets/caller';
import { effectiveExpiry, type StoredToken } from '../queries/tokens.ts';
import type { FoundBatchToken } from './find-token.ts';
import { secondsLeft } from './token-lifetime.ts';

const unixSeconds = (date: Date): number => Math.floor(date.getTime() / 1000);

const namespaceName = (path: string): string => (path === '' ? 'root' : `${path}/`);

/** What a look-up tells of a stored token. The token itself is not known here: `id` is empty. */
export const presentToken = (token: StoredToken, now: Date): Record<string, unknown> => ({
  id: '',
  accessor: token.accessor,
  type: 'service',
  display_name: token.displayName,
  path: token.creationPath,
  namespace_path: namespaceName(token.namespacePath),
  policies: token.policies,
  meta: token.metadata,
  entity_id: token.entityId ?? '',
  orphan: token.parentAccessor === null,
  renewable: token.renewable,
  ttl: secondsLeft(effectiveExpiry(token), now),
  creation_ttl: token.ttlSeconds,
  explicit_max_ttl: token.explicitMaxTtlSeconds,
  ...(token.periodSeconds > 0 ? { period: token.periodSeconds } : {}),
  ...(token.boundCidrs.length > 0 ? { bound_cidrs: token.boundCidrs } : {}),
  num_uses: token.usesLeft ?? 0,
  creation_time: unixSeconds(token.createdAt),
  issue_time: token.createdAt.toISOString(),
  expire_time: effectiveExpiry(token)?.toISOString() ?? null,
  ...(token.renewedAt === null
    ? {}
    : { last_renewal_time: unixSeconds(token.renewedAt), last_renewal: token.renewedAt.toISOString() }),
});

/** What a look-up tells of a batch token: what it holds. */
export const presentBatchToken = (
  { payload: token, namespacePath, endsAt }: FoundBatchToken,
  now: Date,
): Record<string, unknown> => ({
  id: '',
  accessor: '',
  type: 'batch',
  display_name: token.display_name,
  path: token.creation_path,
  namespace_path: namespaceName(namespacePath),
  policies: token.policies,
  meta: token.metadata,
  entity_id: token.entity_id ?? '',
  orphan: token.parent_accessor === null,
  renewable: false,
  ttl: secondsLeft(endsAt, now),
  ...(token.bound_cidrs.length > 0 ? { bound_cidrs: token.bound_cidrs } : {}),
  num_uses: 0,
  creation_time: unixSeconds(new Date(token.created_at)),
  issue_time: token.created_at,
  expire_time: endsAt.toISOString(),
});

/** What a batch token may know of itself: the gateway says who it is, and keeps the token. */
export const presentBatchCaller = (caller: Caller): Record<string, unknown> => ({
  id: '',
  accessor: '',
  type: 'batch',
  display_name: caller.displayName,
  policies: caller.policies,
  entity_id: caller.entityId ?? '',
  namespace_path: namespaceName(caller.tokenNamespace.path),
  renewable: false,
  num_uses: 0,
});
