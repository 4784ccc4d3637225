import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  DatabaseStartError,
  type Db,
  holdLock,
  openPostgres,
  type PostgresOptions,
  startEmbeddedServer,
} from '@secrets/db';
import { stopInOrder } from '@secrets/service';
import { backgroundConnections } from '@secrets/sync-control';
import { type Logger, loggerOf } from '@secrets/telemetry';
import type { Env } from './config.ts';

/** Connections to the one database of an installation. What has its own connections does not wait for the others. */
export interface Databases {
  /** Requests of all services. */
  db: Db;
  /** Background work of all services. */
  backgroundDb: Db;
  /** The worker's statements that may wait for a row that another transaction has locked. */
  workerDb: Db;
  /** The worker's statements that never do. */
  unblockedDb: Db;
  close(): Promise<void>;
}

/** A connection is a process of the server, with 4 to 10 MiB of its own, and takes a few milliseconds to open. */
const idleTimeoutMs = 5_000;

/** A database server, and what ends its use. */
interface Server {
  url: string;
  close(): Promise<void>;
}

/**
 * Opens the database of a standalone installation: the one at `DATABASE_URL` if set, otherwise an embedded server in
 * `folder`. Only one process at a time can use either.
 * @throws if another process uses it, or the data folder was created by a version with another embedded database
 */
export async function openDatabases(env: Env, folder: string, log: Logger): Promise<Databases> {
  const server = await openServer(env, folder, log);
  const pool = (use: string, limits: Pick<PostgresOptions, 'connections' | 'lockTimeoutMs'> = {}) =>
    openPostgres({ url: server.url, applicationName: `standalone ${use}`, idleTimeoutMs, ...limits });
  const pools = {
    db: pool('requests', { connections: 6 }),
    backgroundDb: pool('background', { connections: backgroundConnections + 5, lockTimeoutMs: 10_000 }),
    workerDb: pool('worker', { connections: 4, lockTimeoutMs: 10_000 }),
    unblockedDb: pool('messages', { connections: 4 }),
  };
  const closePools = Object.values(pools).map(({ close }) => close);
  return { ...pools, close: stopInOrder(...closePools, server.close).stop };
}

async function openServer(env: Env, folder: string, log: Logger): Promise<Server> {
  if (env.DATABASE_URL !== undefined) return lockServer(env.DATABASE_URL, log);
  assertNoOlderData(join(env.DATA_DIR, 'database'));
  const server = await startEmbeddedServer({ folder, onLog: serverLog(loggerOf(log, 'postgres')) });
  return { url: server.url('postgres'), close: () => server.close() };
}

/** Versions before 0.2 stored an embedded database of another kind in this folder. */
function assertNoOlderData(olderFolder: string): void {
  if (!existsSync(join(olderFolder, 'PG_VERSION'))) return;
  throw new DatabaseStartError(
    `${olderFolder} was created by version 0.1, whose embedded database this version cannot open. ` +
      'Export the secrets with version 0.1, or set DATA_DIR to an empty folder.',
  );
}

async function lockServer(url: string, log: Logger): Promise<Server> {
  const lock = await holdLock({
    url,
    name: 'secrets standalone',
    onLost: (error) => {
      log.fatal({ error }, 'another process has taken over the database');
      process.exit(1);
    },
  });
  return { url, close: lock.release };
}

/** https://www.postgresql.org/docs/18/runtime-config-logging.html#RUNTIME-CONFIG-SEVERITY-LEVELS */
const serverLog =
  (log: Logger) =>
  (line: string, isStopping: boolean): void => {
    // A server that was asked to stop ends its connections and processes with FATAL.
    const isFailure = /\bPANIC:/.test(line) || (/\bFATAL:/.test(line) && !isStopping);
    log[isFailure ? 'warn' : 'debug']({ line }, 'message from the embedded database');
  };
