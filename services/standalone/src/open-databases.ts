import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseStartError, type Db, holdLock, openEmbedded, openPostgres } from '@secrets/db';
import type { Logger } from '@secrets/telemetry';
import type { Env } from './config.ts';

/**
 * Opens the database of a standalone installation: the one at `DATABASE_URL` if set, otherwise an embedded server in
 * `folder`. Only one process at a time can use either.
 * @throws if another process uses it, or the data folder was created by a version with another embedded database
 */
export async function openDatabase(env: Env, folder: string, log: Logger): Promise<Db> {
  if (env.DATABASE_URL !== undefined) return openExclusively(env.DATABASE_URL, log);
  assertNoOlderData(join(env.DATA_DIR, 'database'));
  return openEmbedded({ folder, onLog: (line) => logServerLine(log, line) });
}

/** Versions before 0.2 stored an embedded database of another kind in this folder. */
function assertNoOlderData(olderFolder: string): void {
  if (!existsSync(join(olderFolder, 'PG_VERSION'))) return;
  throw new DatabaseStartError(
    `${olderFolder} was created by version 0.1, whose embedded database this version cannot open. ` +
      'Export the secrets with version 0.1, or set DATA_DIR to an empty folder.',
  );
}

async function openExclusively(url: string, log: Logger): Promise<Db> {
  const lock = await holdLock({
    url,
    name: 'secrets standalone',
    onLost: (error) => {
      log.fatal({ error }, 'another process has taken over the database');
      process.exit(1);
    },
  });
  const db = openPostgres({ url, applicationName: 'standalone' });
  return {
    query: db.query,
    transaction: db.transaction,
    close: async () => {
      await db.close();
      await lock.release();
    },
  };
}

/** https://www.postgresql.org/docs/18/runtime-config-logging.html#RUNTIME-CONFIG-SEVERITY-LEVELS */
function logServerLine(log: Logger, line: string): void {
  const child = { service: 'postgres', line };
  if (/\b(FATAL|PANIC):/.test(line)) log.warn(child, 'message from the embedded database');
  else log.debug(child, 'message from the embedded database');
}
