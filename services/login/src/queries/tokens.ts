import { ancestorExpirySql } from '@secrets/access';
import type { Db, Sql } from '@secrets/db';
import { errorCode, permissionDenied } from '@secrets/domain';
import type { LoginSource } from '../cloudb/login-source.ts';
import { earliest, type Lifetime } from '../tokens/token-lifetime.ts';
import { revoking } from './revoking.ts';

/** A service token that is about to be stored. */
export interface NewToken {
  hash: Buffer;
  accessor: string;
  parentAccessor: string | null;
  namespaceId: string;
  displayName: string;
  creationPath: string;
  policies: readonly string[];
  metadata: Record<string, string>;
  entityId: string | null;
  boundCidrs: readonly string[];
  renewable: boolean;
  lifetime: Lifetime;
  /** How often it may be used; null for as often as wanted. */
  uses: number | null;
}

/** A stored token, without its hash. */
export interface StoredToken {
  accessor: string;
  parentAccessor: string | null;
  mountId: string | null;
  namespaceId: string;
  namespacePath: string;
  displayName: string;
  creationPath: string;
  policies: string[];
  metadata: Record<string, string>;
  entityId: string | null;
  boundCidrs: string[];
  renewable: boolean;
  ttlSeconds: number;
  periodSeconds: number;
  explicitMaxTtlSeconds: number;
  maxExpiresAt: Date | null;
  expiresAt: Date | null;
  /** The earliest expiry of its ancestors; null when none of them expires. */
  ancestorsExpireAt: Date | null;
  usesLeft: number | null;
  loginSource: LoginSource | null;
  createdAt: Date;
  renewedAt: Date | null;
}

/** When a token expires: at its own expiry or the earliest of its ancestors', whichever comes first; null is never. */
export const effectiveExpiry = (token: Pick<StoredToken, 'expiresAt' | 'ancestorsExpireAt'>): Date | null =>
  earliest(token.expiresAt, token.ancestorsExpireAt);

const foreignKeyViolation = '23503';

/** Columns of a new token, and their values from the first 16 parameters, which `newTokenParams` gives. */
export const newTokenColumns = `hash, accessor, parent_accessor, namespace_id, display_name, creation_path, policies, metadata,
  bound_cidrs, renewable, ttl_seconds, period_seconds, explicit_max_ttl_seconds, max_expires_at, expires_at, uses_left`;

export const newTokenValues = `$1::bytea, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text[], $8::jsonb,
  $9::text[], $10::boolean, $11::bigint, $12::bigint, $13::bigint, $14::timestamptz, $15::timestamptz, $16::integer`;

export const newTokenParams = (token: NewToken): unknown[] => [
  token.hash,
  token.accessor,
  token.parentAccessor,
  token.namespaceId,
  token.displayName,
  token.creationPath,
  token.policies,
  JSON.stringify(token.metadata),
  token.boundCidrs,
  token.renewable,
  token.lifetime.ttlSeconds,
  token.lifetime.periodSeconds,
  token.lifetime.explicitMaxTtlSeconds,
  token.lifetime.maxExpiresAt,
  token.lifetime.expiresAt,
  token.uses,
];

/** Stores a token. A parent or namespace that went away in the meantime is `permission denied`. */
export async function insertToken(sql: Sql, token: NewToken): Promise<void> {
  try {
    await sql.query(
      `insert into login.tokens (${newTokenColumns}, entity_id) values (${newTokenValues}, $17::uuid)`,
      [...newTokenParams(token), token.entityId],
    );
  } catch (error) {
    if (errorCode(error) === foreignKeyViolation) throw permissionDenied();
    throw error;
  }
}

const storedToken = `
  select t.accessor, t.parent_accessor as "parentAccessor", t.mount_id as "mountId", t.namespace_id as "namespaceId",
    n.path as "namespacePath", t.display_name as "displayName", t.creation_path as "creationPath", t.policies,
    t.metadata, t.entity_id as "entityId", t.bound_cidrs as "boundCidrs", t.renewable,
    t.ttl_seconds as "ttlSeconds", t.period_seconds as "periodSeconds",
    t.explicit_max_ttl_seconds as "explicitMaxTtlSeconds", t.max_expires_at as "maxExpiresAt",
    t.expires_at as "expiresAt", above.ends_at as "ancestorsExpireAt", t.uses_left as "usesLeft", t.login_source as "loginSource",
    t.created_at as "createdAt", t.renewed_at as "renewedAt"
  from login.tokens t join login.namespaces n on n.id = t.namespace_id
  cross join lateral (select ${ancestorExpirySql('t.parent_accessor')} as ends_at) above`;
const stillValid = (above: string) => `coalesce(least(t.expires_at, ${above}) > now(), true)`;

/** The token of an accessor; undefined when there is none or it has ended. */
export async function tokenByAccessor(sql: Sql, accessor: string): Promise<StoredToken | undefined> {
  const text = `${storedToken} where t.accessor = $1 and ${stillValid('above.ends_at')}`;
  return (await sql.query<StoredToken>(text, [accessor]))[0];
}

/** The token of a hash; undefined when there is none or it has ended. */
export async function tokenByHash(sql: Sql, hash: Buffer): Promise<StoredToken | undefined> {
  const text = `${storedToken} where t.hash = $1 and ${stillValid('above.ends_at')}`;
  return (await sql.query<StoredToken>(text, [hash]))[0];
}

/** Moves a token's end; false when the token is gone. */
export async function renewTokenUntil(sql: Sql, accessor: string, expiresAt: Date | null): Promise<boolean> {
  const rows = await sql.query(
    `update login.tokens t set expires_at = $2::timestamptz, renewed_at = now()
     where t.accessor = $1 and ${stillValid(ancestorExpirySql('t.parent_accessor'))} returning 1`,
    [accessor, expiresAt],
  );
  return rows.length > 0;
}

/** Revokes a token and, by cascade, everything made with it. */
export const deleteToken = (db: Db, accessor: string): Promise<void> =>
  revoking(db, async (tx) => {
    await tx.query('delete from login.tokens where accessor = $1', [accessor]);
  });

/** Revokes a token alone; its children become orphans. */
export const revokeOrphan = (db: Db, accessor: string): Promise<void> =>
  revoking(db, async (tx) => {
    await tx.query('update login.tokens set parent_accessor = null where parent_accessor = $1', [accessor]);
    await tx.query('delete from login.tokens where accessor = $1', [accessor]);
  });

const ended = '(expires_at <= now() or uses_left = 0)';

/** Deletes up to `limit` tokens that have ended or are used up, with what was made with them; gives how many there were. */
export async function deleteExpiredTokens(db: Db, limit: number): Promise<number> {
  const due = await db.query(`select 1 from login.tokens where ${ended} limit 1`);
  if (due.length === 0) return 0;
  return revoking(db, async (tx) => {
    const gone = await tx.query(
      `delete from login.tokens where hash in (
         select hash from login.tokens where ${ended} limit $1 for update skip locked
       ) returning 1`,
      [limit],
    );
    return gone.length;
  });
}

/** Records that the root token was made and stores it; false when another process has done so before. */
export async function insertRootToken(db: Db, token: NewToken): Promise<boolean> {
  return db.transaction(async (tx) => {
    const first = await tx.query(
      'insert into login.root_token default values on conflict do nothing returning 1',
    );
    if (first.length > 0) await insertToken(tx, token);
    return first.length > 0;
  });
}

export async function rootTokenWasCreated(sql: Sql): Promise<boolean> {
  return (await sql.query('select 1 from login.root_token')).length > 0;
}
