import type { PolicyRules } from '@secrets/access';
import type { Db, Sql } from '@secrets/db';
import { errorCode, notFound } from '@secrets/domain';
import { revoking } from './revoking.ts';

const foreignKeyViolation = '23503';

export interface PolicyRow {
  name: string;
  source: string;
}

export async function policyByName(
  sql: Sql,
  namespaceId: string,
  name: string,
): Promise<PolicyRow | undefined> {
  const text = 'select name, source from login.policies where namespace_id = $1 and name = $2';
  return (await sql.query<PolicyRow>(text, [namespaceId, name]))[0];
}

export async function policyNames(sql: Sql, namespaceId: string): Promise<string[]> {
  const text = 'select name from login.policies where namespace_id = $1 order by name limit 10000';
  return (await sql.query<{ name: string }>(text, [namespaceId])).map(({ name }) => name);
}

/** The rules of those of these policies that somebody has written. */
export async function rulesOf(
  sql: Sql,
  namespaceId: string,
  names: readonly string[],
): Promise<{ name: string; rules: PolicyRules }[]> {
  return sql.query(
    'select name, rules from login.policies where namespace_id = $1 and name = any($2::text[])',
    [namespaceId, names],
  );
}

/** Writes a policy; a namespace that went away in the meantime is `not_found`. */
export async function savePolicy(
  db: Db,
  namespaceId: string,
  name: string,
  { source, rules }: { source: string; rules: PolicyRules },
): Promise<void> {
  try {
    await revoking(db, async (tx) => {
      await tx.query(
        `insert into login.policies (namespace_id, name, source, rules) values ($1, $2, $3, $4::jsonb)
         on conflict (namespace_id, name)
         do update set source = excluded.source, rules = excluded.rules, updated_at = now()`,
        [namespaceId, name, source, JSON.stringify(rules)],
      );
    });
  } catch (error) {
    if (errorCode(error) === foreignKeyViolation) throw notFound();
    throw error;
  }
}

export const deletePolicy = (db: Db, namespaceId: string, name: string): Promise<void> =>
  revoking(db, async (tx) => {
    await tx.query('delete from login.policies where namespace_id = $1 and name = $2', [namespaceId, name]);
  });
