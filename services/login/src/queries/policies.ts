import { builtInPolicyNames, type PolicyRules, type PolicySize, policySizeSql } from '@secrets/access';
import type { PageRange, Sql, Tx } from '@secrets/db';

/** The text of a policy as it was written; undefined if there is none of that name. */
export async function findPolicySource(
  sql: Sql,
  namespaceId: string,
  name: string,
): Promise<string | undefined> {
  const text = 'select source from login.policies where namespace_id = $1 and name = $2';
  return (await sql.query<{ source: string }>(text, [namespaceId, name]))[0]?.source;
}

/** Up to `limit` names of written policies after the given one, in the order of their bytes. */
export async function listPolicyNames(
  sql: Sql,
  namespaceId: string,
  { after, limit }: PageRange,
): Promise<string[]> {
  const text = `select name from login.policies where namespace_id = $1 and name collate "C" > $2
                 order by name collate "C" limit $3`;
  return (await sql.query<{ name: string }>(text, [namespaceId, after, limit])).map(({ name }) => name);
}

/** The size of the named policies together. */
export async function findPolicySize(
  sql: Sql,
  namespaceId: string,
  names: readonly string[],
): Promise<PolicySize> {
  const text = `select size.* from ${policySizeSql('$1', '$2::text[]')} size`;
  return (await sql.query<PolicySize>(text, [namespaceId, names]))[0]!;
}

/** The names of a list that no policy has. The built-in ones always exist. */
export async function missingPolicies(
  sql: Sql,
  namespaceId: string,
  names: readonly string[],
): Promise<string[]> {
  const text = 'select name from login.policies where namespace_id = $1 and name = any($2::text[])';
  const written = await sql.query<{ name: string }>(text, [namespaceId, names]);
  const existing = new Set([...builtInPolicyNames, ...written.map(({ name }) => name)]);
  return names.filter((name) => !existing.has(name));
}

/**
 * Stores a policy. A hash that is the same as before, over rules that somebody has changed meanwhile, is removed first, or the
 * trigger `forget_row_hash` would take it for that of other rules.
 */
export async function upsertPolicy(
  tx: Tx,
  namespaceId: string,
  name: string,
  { source, rules, rowHash }: { source: string; rules: PolicyRules; rowHash: string | null },
): Promise<void> {
  await tx.query(
    'update login.policies set row_hash = null where namespace_id = $1 and name = $2 and row_hash = $3',
    [namespaceId, name, rowHash],
  );
  await tx.query(
    `insert into login.policies (namespace_id, name, source, rules, row_hash) values ($1, $2, $3, $4::jsonb, $5)
     on conflict (namespace_id, name)
     do update set source = excluded.source, rules = excluded.rules, row_hash = excluded.row_hash, updated_at = now()`,
    [namespaceId, name, source, JSON.stringify(rules), rowHash],
  );
}

export async function deletePolicyRow(tx: Tx, namespaceId: string, name: string): Promise<void> {
  await tx.query('delete from login.policies where namespace_id = $1 and name = $2', [namespaceId, name]);
}
