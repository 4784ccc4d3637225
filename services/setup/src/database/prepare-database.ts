import { type Db, prepareSchema } from '@secrets/db';
import { serviceSchemas } from '@secrets/schemas';
import type { Logger } from '@secrets/telemetry';
import type { DatabaseService } from '../database-roles.ts';
import { prepareRoles } from './prepare-roles.ts';

/** Waits for the database, migrates every schema, and creates each service's role with its privileges. */
export async function prepareDatabase(
  db: Db,
  passwords: Record<DatabaseService, string>,
  log: Logger,
): Promise<void> {
  for (const migrations of serviceSchemas) await prepareSchema(db, migrations, log);
  await prepareRoles(db, passwords);
}
