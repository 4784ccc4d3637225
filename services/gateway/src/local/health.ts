import { checkDatabase, type Db } from '@secrets/db';
import { failedDependencies } from '@secrets/http';
import type { Upstream } from '../upstream/upstream.ts';
import { cached } from './cached.ts';

/** The body of `GET sys/health` (docs/conventions/http.md#health-and-self-description). */
export interface Health {
  /** Whether the tables of the installation exist. */
  initialized: boolean;
  ready: boolean;
  /** Names of the dependencies that are unavailable. */
  missing: string[];
}

const cacheMs = 1_000;

/** Returns a check of the database and of every service. Its result is cached for a second. */
export function healthOf(db: Db, upstreams: readonly Upstream[]): () => Promise<Health> {
  const checks = {
    database: databaseCheck(db),
    ...Object.fromEntries(upstreams.map((upstream) => [upstream.name, () => isReady(upstream)])),
  };
  return cached(cacheMs, async () => {
    const missing = await failedDependencies(checks);
    return { initialized: !missing.includes('database'), ready: missing.length === 0, missing };
  });
}

/** Rejects if the database accepts no writes, or the tables that authorization needs cannot be read. */
export const databaseCheck = (db: Db) => async (): Promise<void> => {
  await checkDatabase(db);
  await db.query('select value from login.access_epoch');
};

const isReady = async (upstream: Upstream): Promise<void> => {
  await upstream.fetchOwn('/readyz?serving'); // an instance that is about to stop is not missing: it still serves
};
