import type { PolicyRules } from '@secrets/access';
import { type Db, isForeignKeyViolation, type Sql } from '@secrets/db';
import { notFound } from '@secrets/domain';
import { revoking } from './revocations.ts';

/** The text of a policy as it was written; undefined if there is none of that name. */
export async function policySource(sql: Sql, namespaceId: string, name: string): Promise<string | undefined> {
  const text = 'select source from login.policies where namespace_id = $1 and name = $2';
  return (await sql.query<{ source: string }>(text, [namespaceId, name]))[0]?.source;
}

/** Up to `limit` names of written policies after the given one, in the order of their bytes. */
export async function policyNames(
  sql: Sql,
  namespaceId: string,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const text = `select name from login.policies where namespace_id = $1 and name collate "C" > $2
                 order by name collate "C" limit $3`;
  return (await sql.query<{ name: string }>(text, [namespaceId, after, limit])).map(({ name }) => name);
}

/** The rules of the named policies; names without a policy are left out. */
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

/** Writes a policy. If the namespace was deleted meanwhile, throws `not_found`. */
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
    if (isForeignKeyViolation(error)) throw notFound();
    throw error;
  }
}

export const deletePolicy = (db: Db, namespaceId: string, name: string): Promise<void> =>
  revoking(db, async (tx) => {
    await tx.query('delete from login.policies where namespace_id = $1 and name = $2', [namespaceId, name]);
  });
