import { readdirSync } from 'node:fs';
import { errorCode } from '@secrets/domain';
import Postgrator from 'postgrator';
import type { Db, Tx } from '../db.ts';

export interface Migrations {
  /** The schema that these migrations own. Its history is in `<schema>.schema_version`. */
  schema: string;
  /** Folder of `001.do.what-it-does.sql` files. */
  folder: string;
}

/**
 * Runs the migrations that a schema lacks, and returns their names. Migrations are numbered SQL files and go forward only.
 * Several processes may call this at once: one migrates and the others wait for its advisory lock.
 *
 * A role that may not create anything (the services' own roles, in production) succeeds if the schema is up to date.
 * @throws if a migration fails, was changed after it ran, or is not permitted to this role
 */
export async function migrate(db: Db, { schema, folder }: Migrations): Promise<string[]> {
  if ((await appliedVersion(db, schema)) >= latestVersion(folder)) return []; // a newer version may have migrated it
  try {
    // Creating an index on a large table takes long, and so does waiting for another process that does.
    return await db.transaction((tx) => migrateLocked(tx, { schema, folder }), { isUnlimited: true });
  } catch (error) {
    throw new Error(`schema ${schema} could not be migrated: ${reason(error)}`, { cause: error });
  }
}

/**
 * Runs the migrations up to a version in a transaction of the caller, which may do more in it, such as loading what a database of
 * that version contained.
 */
export const migrateTo = (tx: Tx, migrations: Migrations, version: number): Promise<string[]> =>
  migrateLocked(tx, migrations, String(version));

async function migrateLocked(tx: Tx, migrations: Migrations, target?: string): Promise<string[]> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`migrate ${migrations.schema}`]);
  const applied = await migrator(tx, migrations).migrate(target);
  return applied.map((migration) => migration.filename);
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

/** The newest version that the migrations in a folder lead to. */
export const latestVersion = (folder: string): number =>
  Math.max(0, ...readdirSync(folder).map((file) => Number.parseInt(file, 10) || 0));

function reason(error: unknown): string {
  if (errorCode(error) === '42501')
    return 'this role is not permitted to; run the migrations as the owner of the database first';
  return error instanceof Error ? error.message : String(error);
}
