import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RecoverEnv } from '../config.ts';
import { embeddedUrl } from './embedded-database.ts';

/** The database of an installation, the row key of its login service, and the file for a new token. */
interface RecoveryPlace {
  databaseUrl: string;
  rowKeyFile: string;
  file: string;
}

/**
 * Returns the database and key that the environment names, or the embedded database that runs in `DATA_DIR`, and its key.
 * @throws if that does not run, or its address is a port, which only `DATABASE_URL` can name
 */
export function recoveryPlace({
  DATABASE_URL,
  ROW_KEY_FILE,
  DATA_DIR,
  RECOVERY_FILE,
}: RecoverEnv): RecoveryPlace {
  const root = resolve(DATA_DIR);
  const rowKeyFile = ROW_KEY_FILE ?? join(root, 'row.key');
  if (!existsSync(rowKeyFile))
    throw new Error(`${rowKeyFile}, the row key of login, does not exist; set ROW_KEY_FILE`);
  return {
    databaseUrl: DATABASE_URL ?? embeddedUrl(root),
    rowKeyFile,
    file: resolve(RECOVERY_FILE),
  };
}
