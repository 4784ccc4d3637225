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
  /** Binds the columns that never change together (`RowGuard`); null without a key. */
  rowHash: string | null;
}

/** A new token but for its entity, which a login determines. */
export type UnownedToken = Omit<NewToken, 'entityId'>;

/** The columns of a new token, their types, and their values. */
const columns: readonly [name: string, type: string, value: (token: UnownedToken) => unknown][] = [
  ['hash', 'bytea', ({ hash }) => `\\x${hash.toString('hex')}`],
  ['accessor', 'text', ({ accessor }) => accessor],
  ['parent_accessor', 'text', ({ parentAccessor }) => parentAccessor],
  ['namespace_id', 'text', ({ namespaceId }) => namespaceId],
  ['display_name', 'text', ({ displayName }) => displayName],
  ['creation_path', 'text', ({ creationPath }) => creationPath],
  ['policies', 'text[]', ({ policies }) => policies],
  ['metadata', 'jsonb', ({ metadata }) => metadata],
  ['bound_cidrs', 'text[]', ({ boundCidrs }) => boundCidrs],
  ['renewable', 'boolean', ({ renewable }) => renewable],
  ['ttl_seconds', 'bigint', ({ lifetime }) => lifetime.ttlSeconds],
  ['period_seconds', 'bigint', ({ lifetime }) => lifetime.periodSeconds],
  ['explicit_max_ttl_seconds', 'bigint', ({ lifetime }) => lifetime.explicitMaxTtlSeconds],
  ['max_expires_at', 'timestamptz', ({ lifetime }) => lifetime.maxExpiresAt],
  ['expires_at', 'timestamptz', ({ lifetime }) => lifetime.expiresAt],
  ['uses_left', 'integer', ({ uses }) => uses],
  ['role_name', 'text', ({ roleName }) => roleName ?? null],
  ['row_hash', 'text', ({ rowHash }) => rowHash],
];

export const newTokenColumns = columns.map(([name]) => name).join(', ');

/** The values of these columns: the first 18 parameters, which `newTokenParams` returns. */
export const newTokenValues = columns.map(([, type], at) => `$${at + 1}::${type}`).join(', ');

export const newTokenParams = (token: UnownedToken): unknown[] => columns.map(([, , value]) => value(token));

/** The columns with their types, for `jsonb_to_recordset` of what `newTokenRecord` returns. */
export const newTokenRecordColumns = columns.map(([name, type]) => `${name} ${type}`).join(', ');

export const newTokenRecord = (token: UnownedToken): Record<string, unknown> =>
  Object.fromEntries(columns.map(([name, , value]) => [name, value(token)]));

/** Stores a token. Returns false if its namespace does not exist. */
export async function insertToken(sql: Sql, token: NewToken): Promise<boolean> {
  const stored = await sql.query(
    `insert into login.tokens (${newTokenColumns}, entity_id)
     select ${newTokenValues}, $19::uuid from login.namespaces n where n.id = $4 for key share returning 1`,
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
