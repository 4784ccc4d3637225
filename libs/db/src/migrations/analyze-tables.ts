import type { Db } from '../db.ts';

/**
 * Analyses the tables of a schema that belong to this role: those of which the planner has no statistics, or all. Returns their
 * names. A restore creates no statistics, nor does a migration for new columns and for indexes on expressions, and autovacuum
 * takes its time. Small tables are left out: of a table that was never analysed, Postgres expects at least ten pages, so that a
 * plan is still good when it has grown.
 * https://www.postgresql.org/docs/current/populate.html#POPULATE-ANALYZE
 */
export async function analyzeTables(db: Db, schema: string, { all }: { all: boolean }): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c
      where c.relnamespace = to_regnamespace($1) and c.relkind = 'r' and pg_has_role(c.relowner, 'usage')
        and pg_relation_size(c.oid) > 10 * current_setting('block_size')::int
        and ($2 or not exists (select from pg_stats s where s.schemaname = $1 and s.tablename = c.relname))
      order by 1`,
    [schema, all],
  );
  const names = rows.map(({ name }) => name);
  if (names.length > 0)
    await db.transaction((tx) => tx.script(`analyze ${names.join(', ')}`), { isUnlimited: true });
  return names;
}
