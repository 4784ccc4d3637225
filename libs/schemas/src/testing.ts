import { type Db, migrate, openPostgres } from '@secrets/db';
import { createTestDb, databaseOf, type TestDb } from '@secrets/db/testing';
import { serviceSchemas } from './index.ts';

/** The environment variable that names a database with every schema of the services. */
const templateVariable = 'TEST_TEMPLATE_DATABASE';

/** Creates a database with every schema of the services, for one test file. `close` drops it. */
export async function openTestDb(): Promise<TestDb> {
  const template = process.env[templateVariable];
  const db = await createTestDb(template);
  if (template === undefined) await migrateAll(db);
  return db;
}

/**
 * Creates the database that `openTestDb` copies, on the server at `serverUrl`. Returns the environment variables with which
 * test processes find both.
 */
export async function createTemplate(serverUrl: string): Promise<Record<string, string>> {
  const name = `template_${process.pid}`;
  const server = openPostgres({ url: serverUrl, connections: 1 });
  await server.query(`drop database if exists ${name}`);
  await server.query(`create database ${name} template template0`).finally(server.close);
  const db = openPostgres({ url: databaseOf(serverUrl, name), connections: 1 });
  await migrateAll(db).finally(db.close);
  return { TEST_DATABASE_URL: serverUrl, [templateVariable]: name };
}

async function migrateAll(db: Db): Promise<void> {
  for (const migrations of serviceSchemas) await migrate(db, migrations);
}
