import type { Sql } from '@secrets/db';

/** A secret that a rule matches, but that could not be associated. */
export interface RefusalRow {
  secretId: string;
  /** The path of the secret in the mount. */
  path: string;
  reason: string;
  refusedAt: Date;
}

/** Records why secrets are not associated, and when that is tried again: after longer and longer pauses, up to six hours. */
export async function upsertRefusals(
  sql: Sql,
  ruleId: string,
  refusals: readonly (Omit<RefusalRow, 'refusedAt'> & { firstPauseSeconds: number })[],
): Promise<void> {
  if (refusals.length === 0) return;
  await sql.query(
    `insert into sync.rule_refusals as f (rule_id, secret_id, path, reason, due_at)
     select r.id, s.id, s.path, s.reason, now() + s.pause * interval '1 second'
       from sync.rules r cross join unnest($2::uuid[], $3::text[], $4::text[], $5::int[]) as s (id, path, reason, pause)
      where r.id = $1 order by s.id
     on conflict (rule_id, secret_id) do update
       set path = excluded.path, reason = excluded.reason, attempts = least(f.attempts + 1, 20),
           due_at = now() + least(extract(epoch from excluded.due_at - now()) * 2 ^ least(f.attempts + 1, 20), 21600) * interval '1 second'`,
    [
      ruleId,
      refusals.map(({ secretId }) => secretId),
      refusals.map(({ path }) => path),
      refusals.map(({ reason }) => reason),
      refusals.map(({ firstPauseSeconds }) => firstPauseSeconds),
    ],
  );
}

export async function deleteRefusals(sql: Sql, ruleId: string, secretIds: readonly string[]): Promise<void> {
  if (secretIds.length === 0) return;
  await sql.query(
    `delete from sync.rule_refusals
      where id = any(array(
        select f.id from unnest($2::uuid[]) as s (id) cross join lateral (
          select id from sync.rule_refusals where rule_id = $1 and secret_id = s.id limit 1) as f
        order by f.id))`,
    [ruleId, secretIds],
  );
}

/** Takes refused secrets that are due, for a minute. */
export const claimRefusals = (sql: Sql, limit: number): Promise<{ ruleId: string; secretId: string }[]> =>
  sql.query(
    `update sync.rule_refusals f set due_at = now() + interval '1 minute'
       from (select rule_id, secret_id from sync.rule_refusals where due_at <= now() order by due_at limit $1 for update skip locked) as due
      where f.rule_id = due.rule_id and f.secret_id = due.secret_id
      returning f.rule_id as "ruleId", f.secret_id as "secretId"`,
    [limit],
  );

/** Whether a rule has refused a secret. */
export async function isRefused(sql: Sql, secretId: string): Promise<boolean> {
  const rows = await sql.query('select from sync.rule_refusals where secret_id = $1 limit 1', [secretId]);
  return rows.length > 0;
}

/** Returns refusals of a rule. */
export const listRefusals = (sql: Sql, ruleId: string, limit: number): Promise<RefusalRow[]> =>
  sql.query<RefusalRow>(
    `select secret_id as "secretId", path, reason, refused_at as "refusedAt" from sync.rule_refusals
      where rule_id = $1 order by secret_id limit $2`,
    [ruleId, limit],
  );

/** Returns the number of refusals of a rule, counted up to `limit`. */
export async function countRefusals(sql: Sql, ruleId: string, limit: number): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    'select count(*) as count from (select from sync.rule_refusals where rule_id = $1 limit $2) as counted',
    [ruleId, limit],
  );
  return row?.count ?? 0;
}
