import { type BoundRow, tokenRow } from '@secrets/access';
import type { LoginIdentity } from './login-tokens.ts';
import type { NewToken } from './new-tokens.ts';
import type { StoredToken } from './stored-tokens.ts';

/** The bound columns of a token that is to be stored. */
export const newTokenRow = (
  { lifetime, ...token }: Omit<NewToken, 'entityId' | 'rowHash'>,
  login?: Pick<LoginIdentity, 'mountId' | 'source'>,
): BoundRow =>
  rowOf({
    ...token,
    ...lifetime,
    roleName: token.roleName ?? null,
    mountId: login?.mountId ?? null,
    loginSource: login?.source ?? null,
  });

/** The bound columns of a token that was read. */
export const storedTokenRow = (token: StoredToken): BoundRow => rowOf(token);

type Bound = Pick<
  StoredToken,
  | (
      | 'hash'
      | 'accessor'
      | 'namespaceId'
      | 'displayName'
      | 'creationPath'
      | 'metadata'
      | 'renewable'
      | 'ttlSeconds'
    )
  | ('periodSeconds' | 'explicitMaxTtlSeconds' | 'maxExpiresAt' | 'roleName' | 'mountId' | 'loginSource')
> & { policies: readonly string[]; boundCidrs: readonly string[] };

const rowOf = (token: Bound): BoundRow =>
  tokenRow(token.hash, {
    accessor: token.accessor,
    namespace_id: token.namespaceId,
    display_name: token.displayName,
    creation_path: token.creationPath,
    policies: token.policies,
    metadata: token.metadata,
    bound_cidrs: token.boundCidrs,
    renewable: token.renewable,
    ttl_seconds: token.ttlSeconds,
    period_seconds: token.periodSeconds,
    explicit_max_ttl_seconds: token.explicitMaxTtlSeconds,
    max_expires_at: token.maxExpiresAt,
    role_name: token.roleName,
    mount_id: token.mountId,
    login_source: token.loginSource,
  });
