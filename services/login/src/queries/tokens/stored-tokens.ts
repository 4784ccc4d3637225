import { ancestorsSql, changeTag, identityPoliciesSql, ownExpirySql, tokenExpirySql } from '@secrets/access';
import type { PageRange, Sql } from '@secrets/db';
import type { Json } from '@secrets/domain';
import type { LeaseLimits } from '../auth-mounts.ts';
import { recordedChangeSql } from './revocations.ts';

/** A stored token. */
export interface StoredToken {
  /** The hash of the token's text. */
  hash: Buffer;
  /** Binds the columns that never change together (`RowGuard`); null in a row of an earlier version. */
  rowHash: string | null;
  accessor: string;
  parentAccessor: string | null;
  /** The auth mount that issued it; null if none did. */
  mountId: string | null;
  mountType: string | null;
  /** What that mount says about the lifetimes of its tokens; 0 if it says nothing. */
  limits: LeaseLimits;
  namespaceId: string;
  namespacePath: string;
  displayName: string;
  creationPath: string;
  policies: string[];
  /** Of its entity and the groups of that; none if the entity is disabled. */
  identityPolicies: string[];
  metadata: Record<string, string>;
  entityId: string | null;
  /** Whether its entity is disabled or was deleted, so that the token is refused. */
  isWithoutEntity: boolean;
  boundCidrs: string[];
  renewable: boolean;
  ttlSeconds: number;
  periodSeconds: number;
  explicitMaxTtlSeconds: number;
  maxExpiresAt: Date | null;
  expiresAt: Date | null;
  /** The earliest expiry of its ancestors; null if none of them expires. */
  ancestorsExpireAt: Date | null;
  /** The number of its ancestors. */
  depth: number;
  usesLeft: number | null;
  /** The token role with which it was created; null if there was none. */
  roleName: string | null;
  /** As the login method stored it (`LoginIdentity`); null if no login issued the token. */
  loginSource: Json;
  createdAt: Date;
  renewedAt: Date | null;
}

const storedToken = `
  select t.hash, t.row_hash as "rowHash", t.accessor, case when above.count > 0 then t.parent_accessor end as "parentAccessor", t.mount_id as "mountId", m.type as "mountType",
    jsonb_build_object('defaultLeaseSeconds', coalesce(m.default_lease_seconds, 0), 'maxLeaseSeconds', coalesce(m.max_lease_seconds, 0)) as limits,
    t.namespace_id as "namespaceId", n.path as "namespacePath", t.display_name as "displayName",
    t.creation_path as "creationPath", t.policies,
    coalesce(${identityPoliciesSql('t.entity_id', 't.namespace_id')}, '{}') as "identityPolicies", t.metadata, t.entity_id as "entityId",
    t.entity_id is not null and ${identityPoliciesSql('t.entity_id', 't.namespace_id')} is null as "isWithoutEntity",
    t.bound_cidrs as "boundCidrs",
    t.renewable, t.ttl_seconds as "ttlSeconds", t.period_seconds as "periodSeconds",
    t.explicit_max_ttl_seconds as "explicitMaxTtlSeconds", t.max_expires_at as "maxExpiresAt",
    least(t.expires_at, t.max_expires_at) as "expiresAt", above.expires_at as "ancestorsExpireAt", above.count as depth, t.uses_left as "usesLeft", t.role_name as "roleName",
    t.login_source as "loginSource", t.created_at as "createdAt", t.renewed_at as "renewedAt"
  from login.tokens t join login.namespaces n on n.id = t.namespace_id
  left join login.auth_mounts m on m.id = t.mount_id
  cross join lateral ${ancestorsSql('t.parent_accessor')} above`;

const isValid = (expiry: string) => `coalesce(${expiry} > now(), true)`;
const isFoundValid = isValid(`least(${ownExpirySql('t')}, above.expires_at)`);

/** The token of an accessor; undefined if it does not exist or has expired. */
export async function findTokenByAccessor(sql: Sql, accessor: string): Promise<StoredToken | undefined> {
  const text = `${storedToken} where t.accessor = $1 and ${isFoundValid}`;
  return (await sql.query<StoredToken>(text, [accessor]))[0];
}

/** The token of a hash; undefined if it does not exist or has expired. */
export async function findTokenByHash(sql: Sql, hash: Buffer): Promise<StoredToken | undefined> {
  const text = `${storedToken} where t.hash = $1 and ${isFoundValid}`;
  return (await sql.query<StoredToken>(text, [hash]))[0];
}

/** Up to `limit` accessors of a namespace after the given one, in the order of their bytes; some may have expired just now. */
export async function listAccessors(
  sql: Sql,
  namespaceId: string,
  { after, limit }: PageRange,
): Promise<string[]> {
  const text = `select accessor from login.tokens where namespace_id = $1 and accessor collate "C" > $2
    order by accessor collate "C" limit $3`;
  return (await sql.query<{ accessor: string }>(text, [namespaceId, after, limit])).map(
    ({ accessor }) => accessor,
  );
}

// An earlier expiry moves the epoch: gateways may have the token and its children in their caches, with the later one.
// The row is locked before its expiry is read: a renewal at the same time by the token itself is not undone.
const updateExpiryText = `with former as (
    select t.accessor, t.expires_at from login.tokens t
    where t.accessor = $1 and ${isValid(tokenExpirySql('t'))} for no key update of t
  ), renewed as (
    update login.tokens t set renewed_at = now(),
      expires_at = case when $3 then greatest($2::timestamptz, least(f.expires_at, $4::timestamptz)) else $2::timestamptz end
    from former f where t.accessor = f.accessor
    returning t.expires_at, f.expires_at > t.expires_at as "isShorter"
  ), ${recordedChangeSql(`array['${changeTag.token('')}' || $1::text]`, 'exists (select 1 from renewed where "isShorter")')}
  select expires_at as "expiresAt" from renewed`;

/**
 * Sets a token's expiry, unless `keepsLater` and it has a later one within `maxExpiresAt`. Returns undefined if the
 * token no longer exists or has expired.
 */
export async function updateTokenExpiry(
  sql: Sql,
  accessor: string,
  { expiresAt, ...limits }: Pick<StoredToken, 'expiresAt' | 'maxExpiresAt'> & { keepsLater: boolean },
): Promise<Pick<StoredToken, 'expiresAt'> | undefined> {
  const parameters = [accessor, expiresAt, limits.keepsLater, limits.maxExpiresAt];
  const [updated] = await sql.query<Pick<StoredToken, 'expiresAt'>>(updateExpiryText, parameters);
  return updated;
}
