import { isDeepStrictEqual } from 'node:util';
import { type CopySession, migrateTo, type Sql } from '@secrets/db';
import { serviceSchemas } from '@secrets/schemas';
import { ArchiveError } from '../archive/archive-error.ts';
import type { Manifest, ManifestTable, SchemaName } from '../archive/manifest.ts';
import {
  describeTables,
  describeVersions,
  quotedColumns,
  quotedName,
  schemaNames,
} from './describe-database.ts';

/** Calls its argument with each table and its rows. */
export type Tables = (
  take: (table: ManifestTable, rows: AsyncIterable<Uint8Array>) => Promise<number>,
) => Promise<void>;

/**
 * Creates the schemas in the versions of the archive, and loads its rows, in a transaction of the caller. Triggers do not see
 * these rows: what they would write is among them. References are checked at the end.
 * @throws {ArchiveError} if migrations were different, or the archive has other tables than they create
 */
export async function loadDatabase(session: CopySession, manifest: Manifest, tables: Tables): Promise<void> {
  for (const migrations of serviceSchemas)
    await migrateTo(session, migrations, manifest.schemas[migrations.schema as SchemaName].version);
  await requireSame(session, manifest);
  const names = manifest.tables.map(quotedName);
  const constraints = await droppedConstraints(session);
  await session.script(constraints.map(({ drop }) => drop).join(';\n'));
  await session.script(names.map((name) => `alter table ${name} disable trigger user`).join(';\n'));
  await session.script(`truncate ${names.join(', ')}`);
  await tables((table, rows) =>
    session.copyIn(`copy ${quotedName(table)} (${quotedColumns(table)}) from stdin`, rows),
  );
  await session.script(constraints.map(({ add }) => add).join(';\n'));
  await session.script(names.map((name) => `alter table ${name} enable trigger user`).join(';\n'));
  for (const sequence of manifest.sequences)
    if (sequence.last > 0)
      await session.query('select setval($1::text::regclass, $2)', [quotedName(sequence), sequence.last]);
}

/** Names from the archive become part of statements only if the database has the same ones. */
async function requireSame(sql: Sql, { schemas, tables, sequences }: Manifest): Promise<void> {
  const found = await describeTables(sql);
  const listed = tables.map(({ schema, name, columns }) => ({ schema, name, columns }));
  const known = await sequenceNames(sql);
  const isSame =
    isDeepStrictEqual(await describeVersions(sql), schemas) &&
    isDeepStrictEqual(found, listed) &&
    sequences.every((sequence) => known.has(quotedName(sequence)));
  if (!isSame)
    throw new ArchiveError(
      'the archive comes from a version of the service with other migrations or tables; restore it with the version that created it',
    );
}

async function sequenceNames(sql: Sql): Promise<Set<string>> {
  const rows = await sql.query<{ schema: string; name: string }>(
    'select schemaname as schema, sequencename as name from pg_sequences where schemaname = any($1)',
    [schemaNames],
  );
  return new Set(rows.map(quotedName));
}

/** Foreign keys, which would depend on the order of the tables, and those that older rows need not satisfy. */
const droppedConstraints = (sql: Sql): Promise<{ drop: string; add: string }[]> =>
  sql.query(
    `select format('alter table %I.%I drop constraint %I', n.nspname, c.relname, k.conname) as drop,
            format('alter table %I.%I add constraint %I %s', n.nspname, c.relname, k.conname, pg_get_constraintdef(k.oid)) as add
       from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = any($1) and (k.contype = 'f' or not k.convalidated) order by n.nspname, c.relname, k.conname`,
    [schemaNames],
  );
