import { type Db, openPostgres, type Tx } from '@secrets/db';
import { testServerUrl } from '@secrets/db/testing';
import { openTestDb } from '@secrets/schemas/testing';
import { silentLogger } from '@secrets/telemetry';
import { prepareDatabase } from '../src/database/prepare-database.ts';
import { type DatabaseService, databaseServices, roleOf } from '../src/database-roles.ts';

export const passwords = Object.fromEntries(
  databaseServices.map((service) => [service, `password of ${service}`]),
) as Record<DatabaseService, string>;

/** Creates a database and prepares it as the command `database` does. */
export async function preparedDb() {
  const db = await openTestDb();
  await exclusively(() => prepareDatabase(db, passwords, silentLogger()));
  return db;
}

/** Runs `work` alone among all test files: roles belong to the whole server, which the files share. */
export async function exclusively(work: () => Promise<unknown>): Promise<void> {
  const lock = openPostgres({ url: testServerUrl(), connections: 1, statementTimeoutMs: 600_000 });
  await lock.query("select pg_advisory_lock(hashtextextended('roles for test', 0))");
  await Promise.resolve(work()).finally(lock.close); // closing the connection releases the lock
}

/** Runs and commits `work` as a service's role. */
export const as = <T>(db: Db, service: DatabaseService, work: (asRole: Db) => Promise<T>): Promise<T> =>
  db.transaction(async (tx) => {
    await tx.query(`set local role ${roleOf(service)}`);
    return await work(insideOf(tx));
  });

/** Returns the error of a statement that a service's role may not run, or undefined. The statement is rolled back. */
export async function refusal(db: Db, service: DatabaseService, text: string): Promise<string | undefined> {
  const undone = new Error('undone');
  try {
    await as(db, service, async (asRole) => {
      await asRole.query(text);
      throw undone;
    });
  } catch (error) {
    return error === undone ? undefined : String(error);
  }
}

/** Opens a database as a service does, with its role and password. */
export function logIn(url: string, service: DatabaseService, password: string): Db {
  const own = Object.assign(new URL(url), { username: roleOf(service), password });
  return openPostgres({ url: own.toString(), connections: 1 });
}

const insideOf = (tx: Tx): Db => ({
  ...tx,
  transaction: (work) => work(tx),
  now: Date.now,
  close: async () => {},
});
