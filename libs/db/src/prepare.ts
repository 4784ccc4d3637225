import { errorCode } from '@secrets/domain';
import type { Db } from './db.ts';
import { type Migrations, migrate } from './migrate.ts';

/** The part of a logger used here. */
interface PrepareLog {
  info(fields: object, sentence: string): void;
  warn(fields: object, sentence: string): void;
}

const mostWaitMs = 120_000;
const retryMs = 1_000;

/**
 * Waits until the database can be reached, and brings one schema up to date. Services start in any order: a schema
 * that builds on another's waits for it too. Gives up after two minutes with the last error.
 */
export async function prepareSchema(db: Db, migrations: Migrations, log: PrepareLog): Promise<void> {
  const end = Date.now() + mostWaitMs;
  let told = false;
  for (;;) {
    try {
      const applied = await migrate(db, migrations);
      if (applied.length > 0) log.info({ schema: migrations.schema, applied }, 'schema migrated');
      return;
    } catch (error) {
      if (!mayPass(error) || Date.now() > end) throw error;
      if (!told) log.warn({ schema: migrations.schema, error }, 'waiting for the database');
      told = true;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}

/** Not reachable yet, still starting, out of connections, or another service's schema is not there yet. */
function mayPass(error: unknown): boolean {
  const code = errorCode(error) ?? errorCode((error as { cause?: unknown }).cause) ?? '';
  return (
    /^(ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|08|57P|53|42P01$|3F000$)/.test(code) ||
    /timeout|terminated/i.test(String(error))
  );
}
