import { type Db, openPostgres, type Tx } from '@secrets/db';
import { testServerUrl } from '@secrets/db/testing';
import { openTestDb } from '@secrets/schemas/testing';
import { silentLogger } from '@secrets/telemetry';
import { prepareDatabase } from '../src/database/prepare-database.ts';
import { type DatabaseService, databaseServices, roleOf } from '../src/database-roles.ts';

export const passwords = Object.fromEntries(
  databaseServices.map((service) => [service, `password of ${service}`]),
) as Record<DatabaseService, string>;

/** A database as `database` leaves it. */
export async function preparedDb() {
  const db = await openTestDb();
  await prepareOnce(() => prepareDatabase(db, passwords, silentLogger()));
  return db;
}

/** Roles belong to the whole server, which test files may share: one after the other. */
export async function prepareOnce(work: () => Promise<unknown>): Promise<void> {
  const lock = openPostgres({ url: testServerUrl(), connections: 1, statementTimeoutMs: 600_000 });
  await lock.query("select pg_advisory_lock(hashtextextended('roles for test', 0))");
  await Promise.resolve(work()).finally(lock.close); // the lock goes with its connection
}

/** Runs `work` as a service's role does it; what it does is kept. */
export const as = <T>(db: Db, service: DatabaseService, work: (asRole: Db) => Promise<T>): Promise<T> =>
  db.transaction(async (tx) => {
    await tx.query(`set local role ${roleOf(service)}`);
    return await work(insideOf(tx));
  });

/** Why a service's role may not run a statement; undefined when it may. What it does is not kept. */
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

/** Logs in to a database of a server as a service does. */
export function logIn(url: string, service: DatabaseService, password: string): Db {
  const own = Object.assign(new URL(url), { username: roleOf(service), password });
  return openPostgres({ url: own.toString(), connections: 1 });
}

const insideOf = (tx: Tx): Db => ({
  ...tx,
  transaction: (work) => work(tx),
  close: async () => {},
});
