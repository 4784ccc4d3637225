import { randomBytes } from 'node:crypto';
import type { Db } from './db.ts';
import { openEmbedded } from './open-embedded.ts';
import { openPostgres } from './open-postgres.ts';

/**
 * A database of its own for one test file, dropped when closed: on the Postgres server of `TEST_DATABASE_URL`
 * when that is set, embedded otherwise.
 */
export async function openTestDb(): Promise<Db & { url: string | undefined }> {
  const server = process.env.TEST_DATABASE_URL;
  if (server === undefined) return Object.assign(await openEmbedded(), { url: undefined });
  const name = `test_${randomBytes(8).toString('hex')}`;
  const admin = openPostgres({ url: server, connections: 1 });
  await admin.query(`create database ${name}`);
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).toString();
  const db = openPostgres({ url });
  return Object.assign(db, {
    url,
    close: closing(db, admin, name),
  });
}

function closing(db: Db, admin: Db, name: string): () => Promise<void> {
  const closeDb = db.close.bind(db);
  return async () => {
    await closeDb();
    await admin.query(`drop database if exists ${name} with (force)`);
    await admin.close();
  };
}
