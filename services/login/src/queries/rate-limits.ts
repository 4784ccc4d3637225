import type { PageRange, Sql, Tx } from '@secrets/db';

export interface RateLimitSettings {
  namespaceId: string;
  /** In that namespace, without slashes at its ends; empty for all of it. */
  path: string;
  /** The namespace and that path, as they were written. */
  writtenPath: string;
  /** Requests per interval. */
  rate: number;
  intervalSeconds: number;
  blockSeconds: number;
  inheritable: boolean;
  groupBy: 'ip' | 'none';
}

export interface RateLimitRow extends RateLimitSettings {
  name: string;
}

const select = `
  select q.name, q.namespace_id as "namespaceId", q.path, q.written_path as "writtenPath", q.rate, q.interval_seconds as "intervalSeconds",
    q.block_seconds as "blockSeconds", q.inheritable, q.group_by as "groupBy"
  from login.rate_limit_quotas q`;

export async function findRateLimit(sql: Sql, name: string): Promise<RateLimitRow | undefined> {
  return (await sql.query<RateLimitRow>(`${select} where q.name = $1`, [name]))[0];
}

/** Up to `limit` names after the given one, in order. */
export async function listRateLimits(sql: Sql, { after, limit }: PageRange): Promise<string[]> {
  const text = 'select name from login.rate_limit_quotas where name > $1 order by name limit $2';
  return (await sql.query<{ name: string }>(text, [after, limit])).map(({ name }) => name);
}

/** Creates or replaces a rate limit, unless there are `max` others. Returns false in that case. */
export async function upsertRateLimit(
  tx: Tx,
  name: string,
  settings: RateLimitSettings,
  max: number,
): Promise<boolean> {
  const { namespaceId, path, writtenPath, rate, intervalSeconds, blockSeconds, inheritable, groupBy } =
    settings;
  const written = await tx.query(
    `insert into login.rate_limit_quotas (name, namespace_id, path, rate, interval_seconds, block_seconds, inheritable, group_by, written_path)
     select $1, $2, $3, $4, $5, $6, $7, $8, $10
     where (select count(*) from (select 1 from login.rate_limit_quotas where name <> $1 limit $9) others) < $9
     on conflict (name) do update set namespace_id = excluded.namespace_id, path = excluded.path, rate = excluded.rate,
       interval_seconds = excluded.interval_seconds, block_seconds = excluded.block_seconds, inheritable = excluded.inheritable,
       group_by = excluded.group_by, written_path = excluded.written_path
     returning 1`,
    [name, namespaceId, path, rate, intervalSeconds, blockSeconds, inheritable, groupBy, max, writtenPath],
  );
  return written.length > 0;
}

export async function deleteRateLimit(tx: Tx, name: string): Promise<void> {
  await tx.query('delete from login.rate_limit_quotas where name = $1', [name]);
}

/** The namespace of the longest path among these; the root namespace if no other one exists. */
export async function findClosestNamespace(
  sql: Sql,
  paths: readonly string[],
): Promise<{ id: string; path: string }> {
  const rows = await sql.query<{ id: string; path: string }>(
    `select id, path from login.namespaces where path = any($1::text[]) order by length(path) desc limit 1`,
    [paths],
  );
  return rows[0] ?? { id: 'root', path: '' };
}

/** Deletes a page of what gateways have used of limits in intervals that are over. Returns its size. */
export async function deletePageOfUsage(sql: Sql, limit: number): Promise<number> {
  const deleted = await sql.query(
    `delete from login.rate_limit_usage where ctid = any(array(
       select ctid from login.rate_limit_usage where ends_at < now() order by ends_at limit $1
     )) returning 1`,
    [limit],
  );
  return deleted.length;
}
