import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '@secrets/domain';
import { isUnavailable } from '../connections/unavailable.ts';
import type { Db } from '../db.ts';
import { analyzeTables } from './analyze-tables.ts';
import { type Migrations, migrate } from './migrate.ts';

/** The methods of a logger that are used here. */
interface PrepareLog {
  info(fields: object, sentence: string): void;
  warn(fields: object, sentence: string): void;
}

const maxWaitMs = 120_000;
const retryMs = 1_000;

/** Migrates one schema, if it is not up to date, and analyses its tables then, or if they were restored without statistics. */
export async function migrateSchema(
  db: Db,
  migrations: Migrations,
  log: Pick<PrepareLog, 'info'>,
): Promise<void> {
  const applied = await migrate(db, migrations);
  if (applied.length > 0) log.info({ schema: migrations.schema, applied }, 'schema migrated');
  const analysed = await analyzeTables(db, migrations.schema, { all: applied.length > 0 });
  if (analysed.length > 0) log.info({ schema: migrations.schema, analysed }, 'tables analysed');
}

/**
 * Waits until the database is reachable, and migrates one schema. Services start in any order, so a schema that refers to
 * another one waits for that too.
 * @throws after two minutes, the last error
 */
export async function prepareSchema(db: Db, migrations: Migrations, log: PrepareLog): Promise<void> {
  const end = Date.now() + maxWaitMs;
  let isLogged = false;
  for (;;) {
    try {
      return await migrateSchema(db, migrations, log);
    } catch (error) {
      if (!isTransient(error) || Date.now() > end) throw error;
      if (!isLogged) log.warn({ schema: migrations.schema, error }, 'waiting for the database');
      isLogged = true;
      await sleep(retryMs);
    }
  }
}

/**
 * Whether the database is not reachable yet, is starting or a standby, has no free connection, or lacks another service's
 * schema.
 */
const isTransient = (error: unknown): boolean => hasCode(error, transient) || isOutage(error);
const transient = /^(ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|08|57P|53|25006$|42P01$|3F000$)/;

/**
 * Error codes of a database that `setup` has not prepared: a role, its password, its rights or the database is missing.
 * Postgres reports a wrong password in the same way.
 */
const unprepared = /^(28000|28P01|3D000|42501)$/;

/**
 * Work on the database that a service has to do before it starts, and that is tried again until the database is there and
 * prepared.
 */
export const databasePreparation = (run: () => Promise<void>) => ({
  needs: 'database',
  isMissing: (error: unknown): boolean => isTransient(error) || hasCode(error, unprepared),
  run,
});

const withCause = (error: unknown): unknown[] => [error, (error as { cause?: unknown }).cause];

const hasCode = (error: unknown, codes: RegExp): boolean =>
  withCause(error).some((one) => codes.test(errorCode(one) ?? ''));

const isOutage = (error: unknown): boolean =>
  withCause(error).some((one) => isUnavailable(one) || /timeout|terminated/i.test(String(one)));
