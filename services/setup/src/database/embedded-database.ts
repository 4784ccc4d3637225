import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startEmbeddedServer } from '@secrets/db';

/** A database to work on, and what ends its use. */
export interface OpenedDatabase {
  url: string;
  close(): Promise<void>;
}

interface Settings {
  DATABASE_URL?: string | undefined;
  DATA_DIR: string;
}

const clusterOf = (dataDir: string): string => join(resolve(dataDir), 'postgres', 'data');

const isRunning = (dataDir: string): boolean => existsSync(join(clusterOf(dataDir), '.s.PGSQL.5432'));

/**
 * Returns the URL of the embedded database that runs in a data folder.
 * @throws if none runs, or its address is a port, which only `DATABASE_URL` can name
 */
export function embeddedUrl(dataDir: string): string {
  const folder = clusterOf(dataDir);
  if (!isRunning(dataDir))
    throw new Error(`no database runs in ${folder}: start the service, or set DATABASE_URL`);
  return `postgres:///postgres?user=postgres&host=${encodeURIComponent(folder)}`;
}

/** Opens the database at `DATABASE_URL`, the embedded one that runs in `DATA_DIR`, or that one after starting it. */
export async function openForReading({ DATABASE_URL, DATA_DIR }: Settings): Promise<OpenedDatabase> {
  if (DATABASE_URL !== undefined) return { url: DATABASE_URL, close: async () => undefined };
  if (isRunning(DATA_DIR)) return { url: embeddedUrl(DATA_DIR), close: async () => undefined };
  if (!existsSync(join(clusterOf(DATA_DIR), 'PG_VERSION')))
    throw new Error(`there is no database in ${clusterOf(DATA_DIR)}; set DATA_DIR or DATABASE_URL`);
  return start(DATA_DIR);
}

/**
 * Opens the database at `DATABASE_URL`, or starts the embedded one of `DATA_DIR`, which is created if absent.
 * @throws if a service runs with that folder
 */
export const openAlone = async ({ DATABASE_URL, DATA_DIR }: Settings): Promise<OpenedDatabase> =>
  DATABASE_URL === undefined ? start(DATA_DIR) : { url: DATABASE_URL, close: async () => undefined };

async function start(dataDir: string): Promise<OpenedDatabase> {
  const server = await startEmbeddedServer({ folder: join(resolve(dataDir), 'postgres') });
  return { url: server.url('postgres'), close: () => server.close() };
}
