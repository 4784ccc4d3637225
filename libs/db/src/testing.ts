import { randomBytes } from 'node:crypto';
import { openPostgres } from './connections/open-postgres.ts';
import type { Db } from './db.ts';

/** A database for one test file. `close` drops it. */
export interface TestDb extends Db {
  url: string;
}

/**
 * Creates a database on the test server: a copy of `template`, or an empty one by default.
 * @throws if there is no test server
 */
export async function createTestDb(template = 'template0'): Promise<TestDb> {
  const server = testServerUrl();
  const name = `test_${randomBytes(8).toString('hex')}`;
  await onServer(server, `create database ${name} template ${template} strategy file_copy`);
  const url = databaseOf(server, name);
  const db = openPostgres({ url });
  return {
    query: db.query,
    transaction: db.transaction,
    now: db.now,
    url,
    close: async () => {
      await db.close();
      await onServer(server, `drop database if exists ${name} with (force)`);
    },
  };
}

/** The URL of the test server, which `npm test` starts. */
export function testServerUrl(): string {
  const url = process.env.TEST_DATABASE_URL;
  if (url === undefined)
    throw new Error('no database server for tests: use `npm test -- <files>`, or set TEST_DATABASE_URL');
  return url;
}

/** The URL of another database on the same server. */
export const databaseOf = (serverUrl: string, name: string): string =>
  Object.assign(new URL(serverUrl), { pathname: `/${name}` }).toString();

async function onServer(url: string, statement: string): Promise<void> {
  const admin = openPostgres({ url, connections: 1, statementTimeoutMs: 60_000 });
  await admin.query(statement).finally(admin.close);
}
