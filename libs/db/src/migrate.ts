import { readdirSync } from 'node:fs';
import { errorCode } from '@secrets/domain';
import Postgrator from 'postgrator';
import type { Db, Tx } from './db.ts';

export interface Migrations {
  /** The schema that these migrations own; its history stands in `<schema>.schema_version`. */
  schema: string;
  /** Folder of `001.do.what-it-does.sql` files. */
  folder: string;
}

/**
 * Brings one schema up to date: numbered SQL, forward only. A migration that ran and was changed afterwards stops
 * it (checksum). Several processes may call it at once; one works and the others wait (advisory lock).
 * Returns the names of the migrations that ran.
 *
 * A role that may not create anything (the services' own roles, in production) passes when nothing is left to do,
 * and gets an error that says how to migrate when something is.
 */
export async function migrate(db: Db, { schema, folder }: Migrations): Promise<string[]> {
  if ((await appliedVersion(db, schema)) === latestVersion(folder)) return [];
  try {
    return await db.transaction(async (tx) => {
      await tx.query('set local statement_timeout = 0'); // an index on a large table takes its time
      await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`migrate ${schema}`]);
      const applied = await migrator(tx, { schema, folder }).migrate();
      return applied.map((migration) => migration.filename);
    });
  } catch (error) {
    throw new Error(`schema ${schema} could not be migrated: ${reason(error)}`, { cause: error });
  }
}

const migrator = (tx: Tx, { schema, folder }: Migrations) =>
  new Postgrator({
    driver: 'pg',
    migrationPattern: `${folder}/*.sql`,
    schemaTable: `${schema}.schema_version`,
    validateChecksums: true,
    newline: 'LF',
    execQuery: async (text) => ({ rows: await tx.query<Record<string, unknown>>(text) }),
    execSqlScript: (text) => tx.script(text),
  });

async function appliedVersion(db: Db, schema: string): Promise<number> {
  const [table] = await db.query<{ present: boolean }>('select to_regclass($1) is not null as present', [
    `${schema}.schema_version`,
  ]);
  if (!table?.present) return 0;
  const [row] = await db.query<{ version: number }>(
    `select coalesce(max(version), 0)::int as version from ${schema}.schema_version`,
  );
  return row?.version ?? 0;
}

const latestVersion = (folder: string): number =>
  Math.max(0, ...readdirSync(folder).map((file) => Number.parseInt(file, 10) || 0));

function reason(error: unknown): string {
  if (errorCode(error) === '42501')
    return 'this role may not; run the migrations as the owner of the database first';
  return error instanceof Error ? error.message : String(error);
}
