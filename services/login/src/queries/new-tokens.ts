import type { Db, Sql } from '@secrets/db';

/** A token's lifetime as it is stored. */
export interface Lifetime {
  /** Seconds, counted from the creation and from each renewal; 0 means that the token does not expire. */
  ttlSeconds: number;
  periodSeconds: number;
  explicitMaxTtlSeconds: number;
  expiresAt: Date | null;
  /** No renewal extends the token past this; null for a periodic token without an explicit maximum. */
  maxExpiresAt: Date | null;
}

/** A service token to be stored. */
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
  /** Number of requests; null means unlimited. */
  uses: number | null;
  /** The token role with which it is created; absent if there is none. */
  roleName?: string | undefined;
}

/** The columns of a new token. Their values are the first 17 parameters, which `newTokenParams` returns. */
export const newTokenColumns = `hash, accessor, parent_accessor, namespace_id, display_name, creation_path, policies, metadata,
  bound_cidrs, renewable, ttl_seconds, period_seconds, explicit_max_ttl_seconds, max_expires_at, expires_at, uses_left, role_name`;

export const newTokenValues = `$1::bytea, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text[], $8::jsonb,
  $9::text[], $10::boolean, $11::bigint, $12::bigint, $13::bigint, $14::timestamptz, $15::timestamptz, $16::integer, $17::text`;

export const newTokenParams = (token: Omit<NewToken, 'entityId'>): unknown[] => [
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
  token.roleName ?? null,
];

/** Stores a token. Returns false if its namespace does not exist. */
export async function insertToken(sql: Sql, token: NewToken): Promise<boolean> {
  const stored = await sql.query(
    `insert into login.tokens (${newTokenColumns}, entity_id)
     select ${newTokenValues}, $18::uuid from login.namespaces n where n.id = $4 for key share returning 1`,
    [...newTokenParams(token), token.entityId],
  );
  return stored.length > 0;
}

/** Records that the root token was created, and stores it. Returns false if it had been created before. */
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
