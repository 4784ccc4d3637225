import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode } from '@secrets/domain';
import type { Db } from './db.ts';
import { type Migrations, migrate } from './migrate.ts';

/** The methods of a logger that are used here. */
interface PrepareLog {
  info(fields: object, sentence: string): void;
  warn(fields: object, sentence: string): void;
}

const maxWaitMs = 120_000;
const retryMs = 1_000;

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
      const applied = await migrate(db, migrations);
      if (applied.length > 0) log.info({ schema: migrations.schema, applied }, 'schema migrated');
      return;
    } catch (error) {
      if (!isTransient(error) || Date.now() > end) throw error;
      if (!isLogged) log.warn({ schema: migrations.schema, error }, 'waiting for the database');
      isLogged = true;
      await sleep(retryMs);
    }
  }
}

/** Whether the database is not reachable yet, is starting or a standby, has no free connection, or lacks another service's schema. */
function isTransient(error: unknown): boolean {
  const code = errorCode(error) ?? errorCode((error as { cause?: unknown }).cause) ?? '';
  return (
    /^(ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|08|57P|53|25006$|42P01$|3F000$)/.test(code) ||
    /timeout|terminated/i.test(String(error))
  );
}
