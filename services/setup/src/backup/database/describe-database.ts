import { createHash } from 'node:crypto';
import type { Sql } from '@secrets/db';
import { serviceSchemas } from '@secrets/schemas';
import type { Manifest, ManifestTable, SchemaName } from '../archive/manifest.ts';

/** The schemas of the service, in the order of their references. */
export const schemaNames = serviceSchemas.map(({ schema }) => schema as SchemaName);

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export const quotedName = ({ schema, name }: { schema: string; name: string }): string =>
  `${quoted(schema)}.${quoted(name)}`;

export const quotedColumns = ({ columns }: Pick<ManifestTable, 'columns'>): string =>
  columns.map(quoted).join(', ');

/** Whether the database has a schema of the service. */
export async function hasSchemas(sql: Sql): Promise<boolean> {
  const rows = await sql.query('select from pg_namespace where nspname = any($1)', [schemaNames]);
  return rows.length > 0;
}

/**
 * Lists the tables, other than the history of migrations, in the order of their names, with the columns that are not computed.
 */
export const describeTables = (sql: Sql): Promise<Omit<ManifestTable, 'rows'>[]> =>
  sql.query(
    `select n.nspname as schema, c.relname as name, array_agg(a.attname::text order by a.attname) as columns
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      where n.nspname = any($1) and c.relkind = 'r' and c.relname <> 'schema_version'
      group by 1, 2 order by n.nspname collate "C", c.relname collate "C"`,
    [schemaNames],
  );

/** Counts the rows of each table. */
export async function countRows<Table extends Omit<ManifestTable, 'rows'>>(
  sql: Sql,
  tables: readonly Table[],
): Promise<(Table & { rows: number })[]> {
  const counted = [];
  for (const table of tables) {
    const [row] = await sql.query<{ rows: string }>(
      `select count(*)::text as rows from ${quotedName(table)}`,
    );
    counted.push({ ...table, rows: Number(row!.rows) });
  }
  return counted;
}

/** Lists the sequences with the last number that each has issued; 0 if none was. */
export async function describeSequences(sql: Sql): Promise<Manifest['sequences']> {
  const rows = await sql.query<{ schema: SchemaName; name: string; last: string }>(
    `select schemaname as schema, sequencename as name, coalesce(last_value, 0)::text as last
       from pg_sequences where schemaname = any($1) order by 1, 2`,
    [schemaNames],
  );
  return rows.map((row) => ({ ...row, last: Number(row.last) }));
}

/** Reads the version of each schema, with a hash of the migrations that have run. */
export async function describeVersions(sql: Sql): Promise<Manifest['schemas']> {
  const entries = [];
  for (const schema of schemaNames) {
    const rows = await sql.query<{ version: string; md5: string | null }>(
      `select version::text, md5 from ${quoted(schema)}.schema_version where version > 0 order by schema_version.version`,
    );
    const migrations = createHash('sha256').update(JSON.stringify(rows)).digest('hex');
    entries.push([schema, { version: Number(rows.at(-1)?.version ?? 0), migrations }]);
  }
  return Object.fromEntries(entries) as Manifest['schemas'];
}
