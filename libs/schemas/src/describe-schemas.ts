import { readdirSync } from 'node:fs';
import type { Sql } from '@secrets/db';
import { serviceSchemas } from './index.ts';

/** Tables, in the order of their names, with their columns and constraints. */
const tables = `select format(E'create table %s.%s (\\n%s\\n);%s', n.nspname, c.relname,
    (select string_agg(line, E',\\n' order by position, line) from (
       select 0 as position, format('  %s %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
                case when co.collname not in ('default') then ' collate "' || co.collname || '"' else '' end,
                case when a.attidentity <> '' then ' generated as identity' else '' end,
                case when a.attgenerated <> '' then ' generated always as (' || pg_get_expr(d.adbin, d.adrelid, true) || ') stored'
                     else coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') end || case when a.attnotnull then ' not null' else '' end) as line
         from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
         left join pg_collation co on co.oid = a.attcollation
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       union all
       select 1, format('  constraint %s %s', conname, pg_get_constraintdef(oid))
         from pg_constraint where conrelid = c.oid and contype <> 'n') as lines),
    case when c.relrowsecurity then format(E'\\nalter table %s.%s enable row level security;', n.nspname, c.relname) else '' end) as text
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any($1::text[]) and c.relkind = 'r' order by n.nspname, c.relname`;

const views = `select format(E'create view %s.%s as\\n%s', schemaname, viewname, definition) as text
  from pg_views where schemaname = any($1::text[]) order by schemaname, viewname`;

/** Indexes that no constraint has created. */
const indexes = `select pg_get_indexdef(i.indexrelid) || ';' as text
  from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any($1::text[]) and not exists (select from pg_constraint where conindid = i.indexrelid)
  order by n.nspname, c.relname`;

const functions = `select pg_get_functiondef(p.oid) || ';' as text from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = any($1::text[]) order by n.nspname, p.proname`;

const triggers = `select pg_get_triggerdef(t.oid) || ';' as text
  from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any($1::text[]) and not t.tgisinternal order by n.nspname, c.relname, t.tgname`;

const policies = `select format('create policy %s on %s.%s for %s to %s using (%s) with check (%s);', policyname, schemaname, tablename, cmd,
    roles, coalesce(qual, ''), coalesce(with_check, '')) as text
  from pg_policies where schemaname = any($1::text[]) order by schemaname, tablename, policyname`;

/**
 * Describes what the migrations have created, as text for comparison and review. It is not a script: the order of statements is
 * that of their names, and grants, which depend on the roles of an installation, are missing.
 */
export async function describeSchemas(sql: Sql, schemas: readonly string[]): Promise<string> {
  const parts: string[] = [];
  for (const query of [tables, views, indexes, functions, triggers, policies]) {
    const rows = await sql.query<{ text: string }>(query, [schemas]);
    parts.push(...rows.map(({ text }) => text.trim()));
  }
  return `${parts.join('\n\n')}\n`;
}

/** Names the newest migration of each schema: the first lines of schema.sql. */
export const newestMigrations = (): string =>
  serviceSchemas
    .map(({ schema, folder }) => `-- ${schema}: up to ${readdirSync(folder).sort().at(-1)}\n`)
    .join('');
