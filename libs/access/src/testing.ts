import type { Capability } from '@secrets/caller';
import type { Db, Sql } from '@secrets/db';
import { changeTag } from './changes/change-tags.ts';
import type { PathRule, PolicyRules } from './policies/rules/policy-rules.ts';
import { newAccessor, newToken, tokenHash } from './tokens/token.ts';

export interface TokenForTest {
  policies: string[];
  namespaceId: string;
  expiresAt: Date | null;
  boundCidrs: string[];
  usesLeft: number | null;
  parentAccessor: string | null;
}

/** Inserts a service token. Returns its text and accessor. */
export async function insertToken(sql: Sql, over: Partial<TokenForTest> = {}) {
  const token = newToken().reveal();
  const accessor = newAccessor();
  const row = {
    policies: ['root'],
    namespaceId: 'root',
    expiresAt: null,
    boundCidrs: [],
    usesLeft: null,
    ...over,
  };
  await sql.query(
    `insert into login.tokens (hash, accessor, parent_accessor, namespace_id, display_name, creation_path, policies,
       bound_cidrs, renewable, ttl_seconds, expires_at, uses_left)
     values ($1, $2, $3, $4, 'test', 'auth/token/create', $5::text[], $6::text[], true, 0, $7::timestamptz, $8::integer)`,
    [
      tokenHash(token),
      accessor,
      row.parentAccessor ?? null,
      row.namespaceId,
      row.policies,
      row.boundCidrs,
      row.expiresAt?.toISOString() ?? null,
      row.usesLeft,
    ],
  );
  return { token, accessor };
}

/** Writes a policy and records the change, as login does. */
export async function writePolicy(
  db: Db,
  name: string,
  paths: Record<string, Capability[] | Omit<PathRule, 'path'>>,
  namespaceId = 'root',
) {
  const rules: PolicyRules = {
    paths: Object.entries(paths).map(([path, rule]) => ({
      path,
      ...(Array.isArray(rule) ? { capabilities: rule } : rule),
    })),
  };
  await db.transaction(async (tx) => {
    await tx.query(
      `insert into login.policies (namespace_id, name, source, rules) values ($1, $2, '', $3::jsonb)
       on conflict (namespace_id, name) do update set rules = excluded.rules`,
      [namespaceId, name, JSON.stringify(rules)],
    );
    await recordChange(tx, changeTag.policy(namespaceId, name));
  });
}

/** Revokes a token and records the change, as login does. */
export const revokeToken = (db: Db, accessor: string): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.query('update login.tokens set expires_at = to_timestamp(0) where accessor = $1', [accessor]);
    await recordChange(tx, changeTag.token(accessor));
  });

const recordChange = (sql: Sql, concerned: string) =>
  sql.query(
    `with moved as (update login.access_epoch set value = value + 1 returning value, change_id)
     insert into login.access_changes (epoch, change_id, concerns) select value, change_id, array[$1::text] from moved`,
    [concerned],
  );
/** Increments the epoch, as login does with every change that may withdraw access. */
export const incrementEpoch = (sql: Sql) => sql.query('update login.access_epoch set value = value + 1');
