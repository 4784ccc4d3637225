import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { DatabaseStartError } from './start-error.ts';

export interface HeldLock {
  release(): Promise<void>;
}

export interface HoldLockOptions {
  url: string;
  /** Names what is locked; one process at a time holds a name in a database. */
  name: string;
  /** Called if the connection was lost and another process has acquired the lock in the meantime. */
  onLost: (error: Error) => void;
}

const retryMs = 1_000;

/**
 * Holds an advisory lock of a database for the life of this process, on a separate connection. If that connection breaks,
 * the lock is acquired again as soon as the server is reachable.
 * @throws {DatabaseStartError} if another process holds it
 */
export async function holdLock(options: HoldLockOptions): Promise<HeldLock> {
  let isReleased = false;
  let client = await lockOn(options);
  const watch = () => {
    const onBroken = () => {
      if (!isReleased) void reacquire();
    };
    client.once('error', onBroken);
    client.once('end', onBroken);
  };
  const reacquire = async () => {
    client.removeAllListeners();
    client.on('error', () => undefined);
    while (!isReleased) {
      try {
        client = await lockOn(options);
        return watch();
      } catch (error) {
        if (error instanceof LockHeldError) return options.onLost(error);
        await sleep(retryMs);
      }
    }
  };
  watch();
  return {
    release: async () => {
      isReleased = true;
      await client.end();
    },
  };
}

class LockHeldError extends DatabaseStartError {}

async function lockOn({ url, name }: HoldLockOptions): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    query_timeout: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query('select pg_try_advisory_lock(hashtextextended($1, 0)) as locked', [
    name,
  ]);
  if (rows[0].locked === true) return client;
  await client.end();
  throw new LockHeldError(`the database is in use by another process, which holds the lock "${name}"`);
}
