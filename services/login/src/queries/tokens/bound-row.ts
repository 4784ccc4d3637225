import { type BoundRow, tokenRow } from '@secrets/access';
import type { LoginIdentity } from './login-tokens.ts';
import type { NewToken } from './new-tokens.ts';
import type { StoredToken } from './stored-tokens.ts';

/** The bound columns of a token that is to be stored. */
export const newTokenRow = (
  token: Omit<NewToken, 'entityId' | 'rowHash'>,
  login?: Pick<LoginIdentity, 'mountId' | 'source'>,
): BoundRow =>
  rowOf(token, token.lifetime, {
    roleName: token.roleName ?? null,
    mountId: login?.mountId ?? null,
    loginSource: login?.source ?? null,
  });

/** The bound columns of a token that was read. */
export const storedTokenRow = (token: StoredToken): BoundRow => rowOf(token, token, token);

type Token = Omit<NewToken, 'entityId' | 'rowHash' | 'parentAccessor' | 'lifetime' | 'uses' | 'roleName'>;
type Lifetime = Omit<NewToken['lifetime'], 'expiresAt'>;
type Origin = Pick<StoredToken, 'roleName' | 'mountId' | 'loginSource'>;

/** Each login needs one, so nothing is copied. */
const rowOf = (token: Token, lifetime: Lifetime, origin: Origin): BoundRow =>
  tokenRow(token.hash, {
    accessor: token.accessor,
    namespace_id: token.namespaceId,
    display_name: token.displayName,
    creation_path: token.creationPath,
    policies: token.policies,
    metadata: token.metadata,
    bound_cidrs: token.boundCidrs,
    renewable: token.renewable,
    ttl_seconds: lifetime.ttlSeconds,
    period_seconds: lifetime.periodSeconds,
    explicit_max_ttl_seconds: lifetime.explicitMaxTtlSeconds,
    max_expires_at: lifetime.maxExpiresAt,
    role_name: origin.roleName,
    mount_id: origin.mountId,
    login_source: origin.loginSource,
  });
